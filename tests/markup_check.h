#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// For tests: "" if the tags of a text are balanced, no < or & stands bare and attributes are quoted;
// otherwise what is wrong. Elements that HTML leaves open (<meta>) and the doctype count as closed; <style>
// and <script> are passed over.
inline std::string markup_fault(std::string_view text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&') {
      const size_t end = text.find(';', at);
      if (end == std::string_view::npos || end - at > 6) return "a bare &";
    }
    if (text[at] == '>') return "a bare >";
    if (text[at] != '<') continue;
    const size_t end = text.find('>', at);
    if (end == std::string_view::npos) return "a tag without end";
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('!') || tag.starts_with("meta ")) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return "</" + std::string(tag.substr(1)) + "> closes nothing";
      open.pop_back();
      continue;
    }
    size_t length = 0, quotes = 0;
    while (length < tag.size() && std::isalnum(static_cast<unsigned char>(tag[length])) != 0) ++length;
    if (length == 0) return "a bare <";
    for (const char letter : tag) quotes += letter == '"' ? 1 : 0;
    if (quotes % 2 != 0 || tag.find('<') != std::string_view::npos)
      return "a broken tag: " + std::string(tag);
    if (tag.ends_with('/')) continue;
    open.emplace_back(tag.substr(0, length));
    if (open.back() == "style" || open.back() == "script") {
      at = text.find("</" + open.back() + ">", at);
      if (at == std::string_view::npos) return "<" + open.back() + "> is not closed";
      --at;
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace subfleet
