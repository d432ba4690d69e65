#include "report/markdown.h"

namespace subfleet {

std::string markdown_table(const std::vector<std::vector<std::string>>& lines) {
  const auto row = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (std::string cell : cells) {
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
