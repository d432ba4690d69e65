#include "report/markdown.h"

#include <cctype>

namespace subfleet {

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') {  // code is shown as it is
      const size_t end = text.find('`', i + 1);
      if (end != std::string_view::npos) {
        safe += text.substr(i, end - i);
        i = end;
      }
    }
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool tag = text[i] == '<' && (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '/' ||
                                        next == '!' || next == '?');
    safe += tag ? "&lt;" : std::string(1, text[i]);
  }
  return safe;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& lines) {
  const auto row = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& raw : cells) {
      std::string cell = markdown_text(raw);
      for (size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) cell.insert(at, "\\");
      text += " " + cell + " |";
    }
    return text + "\n";
  };
  std::string text = row(lines[0]);
  std::vector<std::string> rule(lines[0].size(), "---:");
  rule[0] = "---";
  text += row(rule);
  for (size_t i = 1; i < lines.size(); ++i) text += row(lines[i]);
  return text;
}

}  // namespace subfleet
