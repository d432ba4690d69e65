#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// A name as Markdown shows it: tags in it are text.
std::string markdown_text(std::string_view text);

// Lines of cells, the first of them the heading, as a table of Markdown: the first column to the left, the
// others to the right.
std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

}  // namespace subfleet
