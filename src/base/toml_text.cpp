#include "base/toml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kMostParts = 16;     // of a dotted key
constexpr size_t kMostBrackets = 16;  // open at a time

Error error_at(std::string_view source, size_t line, std::string_view why) {
  return bad_request(source, fmt::format("line {}: {}", line, why));
}

// Walks over the text as TOML's grammar does, but only as far as depth needs: strings and comments are passed
// over, dots and brackets counted. Where the text is not TOML the walk may lose its way; the parser stops
// there.
class DepthCheck {
 public:
  DepthCheck(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

  void run() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '"' || c == '\'') {
        pass_string(c);
      } else if (c == '#') {
        pass_to(rest_.find('\n'));
      } else {
        rest_.remove_prefix(1);
        count(c);
      }
    }
  }

 private:
  void count(char c) {
    if (c == '.' && ++dots_ == kMostParts)
      throw error_at(source_, line_, fmt::format("a key of more than {} parts", kMostParts));
    if (c == '\n') ++line_;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots_ = 0;
    if ((c == '[' || c == '{') && ++open_ > kMostBrackets)
      throw error_at(source_, line_, fmt::format("more than {} brackets in one another", kMostBrackets));
    if ((c == ']' || c == '}') && open_ > 0) --open_;
  }

  void pass_string(char quote) {
    const std::string_view three = quote == '"' ? R"(""")" : "'''";
    const bool many_lines = rest_.starts_with(three);
    rest_.remove_prefix(many_lines ? 3 : 1);
    while (!rest_.empty()) {
      if (many_lines ? rest_.starts_with(three) : rest_.front() == quote) break;
      if (rest_.front() == '\n' && !many_lines) return;  // an error, which the parser reports
      pass_to(rest_.front() == '\\' && quote == '"' ? 2 : 1);
    }
    pass_to(many_lines ? 3 : 1);
    for (int i = 0; many_lines && i < 2 && rest_.starts_with(quote); ++i)
      pass_to(1);  // the text may end in quotes
  }

  void pass_to(size_t end) {
    const std::string_view passed = rest_.substr(0, end);
    line_ += static_cast<size_t>(std::count(passed.begin(), passed.end(), '\n'));
    rest_.remove_prefix(passed.size());
  }

  std::string_view rest_, source_;
  size_t line_ = 1, dots_ = 0, open_ = 0;
};

void walk(const toml::table& table, const std::string& prefix,
          const std::function<void(const std::string& name, const toml::node& value)>& visit) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      walk(*inner, name + ".", visit);
    } else {
      visit(name, node);
    }
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view source) {
  if (text.size() > kMostTextBytes) {
    throw bad_request(source, fmt::format("{} is too much; settings may have at most {}",
                                          human_bytes(static_cast<double>(text.size())),
                                          human_bytes(static_cast<double>(kMostTextBytes))));
  }
  DepthCheck(text, source).run();
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw error_at(source, error.source().begin.line, error.description());
  }
}

void for_each_value(const toml::table& table,
                    const std::function<void(const std::string& name, const toml::node& value)>& visit) {
  walk(table, "", visit);
}

std::string value_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return one_line(text->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  std::string list;
  if (const auto* array = node.as_array()) {
    for (const auto& item : *array) list += (list.empty() ? "" : ", ") + value_text(item);
  }
  return "[" + list + "]";
}

void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string>& known) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::ranges::find(known, name) == known.end()) throw unknown_name(what, name, known);
  }
}

}  // namespace subfleet
