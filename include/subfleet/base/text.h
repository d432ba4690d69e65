#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// Quantities as people read them: "1.85 GB" (decimal units, three digits), "3 m 20 s", "84.1 %".
// What is not a finite number is "-".
std::string human_bytes(double bytes);
std::string human_time(double seconds);
std::string human_percent(std::optional<double> fraction);

// "1 round", "5 rounds", "2 queries".
std::string counted(uint64_t count, std::string_view noun);

// The number that a text of fmt's is; unlike std::stod it does not follow the locale. 0 for what is no
// number.
double number_in(std::string_view text);

// How many columns a UTF-8 text takes, one per code point.
size_t text_width(std::string_view text);

// The text cut to at most `width` columns, its end replaced by "..." where something was cut.
std::string clip_text(std::string_view text, size_t width);

// Spaces before (right-aligned) or after (left-aligned) the text up to `width` columns.
std::string pad_left(std::string_view text, size_t width);
std::string pad_right(std::string_view text, size_t width);

// Lines of cells as a text table with a rule under the first line; `alignment` has an 'l' or an 'r' a column.
std::string align_table(const std::vector<std::vector<std::string>>& lines, std::string_view alignment);

// A text from outside made safe to show on a terminal and in a file: control characters other than newline
// and tab, and bytes that are not UTF-8, become "?".
std::string printable(std::string_view text);

// `printable`, with newlines and tabs as "?" too: for a name that is to stay on its line.
std::string one_line(std::string_view text);

// In the letters of RFC 4648, padded.
std::string base64(std::string_view bytes);

// `printable`, with & < > " ' written as entities: safe as HTML or SVG content and attribute value.
std::string escape_markup(std::string_view text);

}  // namespace subfleet
