#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// A name for Markdown, in which tags are shown as text.
std::string markdown_text(std::string_view text);

// A Markdown table of lines of cells; the first line is the heading. The first column is aligned left, the
// others right.
std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

}  // namespace subfleet
