#pragma once

#include <string>
#include <vector>

namespace subfleet {

// Lines of cells, the first of them the heading, as a table of Markdown: the first column to the left, the
// others to the right.
std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

}  // namespace subfleet
