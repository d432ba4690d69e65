#include "subfleet/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace subfleet {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// How many bytes the UTF-8 character at the start of `text` takes; 0 if there is no valid one.
size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  uint32_t point = lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (!continues_character(text[i])) return 0;
    point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  const bool control = point < 0xA0;                      // U+0080..U+009F
  const bool no_character = (point & 0xFFFEU) == 0xFFFE;  // not allowed in XML
  return overlong || surrogate || control || no_character || point > 0x10FFFF ? 0 : length;
}

}  // namespace

double number_in(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string counted(uint64_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", count, noun);
}

std::string human_bytes(double bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (!std::isfinite(bytes)) return "-";
  size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  const double size = std::abs(bytes);
  const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kUnits[unit]);
}

std::string human_time(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e15) return "-";
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  const uint64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (minutes == 0) return fmt::format("{} s", whole);
  if (hours == 0) return fmt::format("{} m {:02} s", minutes, whole % 60);
  if (days == 0) return fmt::format("{} h {:02} m", hours, minutes % 60);
  return fmt::format("{} d {:02} h", days, hours % 24);
}

std::string human_percent(std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction)) return "-";
  return fmt::format("{:.1f} %", 100 * *fraction);
}

size_t text_width(std::string_view text) {
  size_t width = 0;
  for (const char byte : text) width += continues_character(byte) ? 0 : 1;
  return width;
}

std::string clip_text(std::string_view text, size_t width) {
  constexpr std::string_view kCut = "...";
  if (text_width(text) <= width) return std::string(text);
  if (width <= kCut.size()) return std::string(kCut.substr(0, width));
  size_t end = 0;
  for (size_t columns = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && ++columns > width - kCut.size()) break;
  }
  return std::string(text.substr(0, end)).append(kCut);
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t own = text_width(text);
  return std::string(own < width ? width - own : 0, ' ').append(text);
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t own = text_width(text);
  return std::string(text).append(own < width ? width - own : 0, ' ');
}

std::string align_table(const std::vector<std::vector<std::string>>& lines, std::string_view alignment) {
  std::vector<size_t> widths(alignment.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], text_width(line[i]));
  }
  std::string table;
  for (size_t number = 0; number < lines.size(); ++number) {
    const auto& line = lines[number];
    for (size_t i = 0; i < line.size(); ++i) {
      if (i > 0) table += "  ";
      const bool last = i + 1 == line.size();
      table += alignment[i] == 'r' ? pad_left(line[i], widths[i])
               : last              ? line[i]
                                   : pad_right(line[i], widths[i]);
    }
    table += "\n";
    if (number > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) table += (i > 0 ? "  " : "") + std::string(widths[i], '-');
    table += "\n";
  }
  return table;
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const char first = text.front();
    const bool control =
        (static_cast<unsigned char>(first) < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    const size_t length = control ? 0 : character_bytes(text);
    if (length == 0) {
      clean += '?';
    } else {
      clean.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

std::string one_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace_if(
      line, [](char byte) { return byte == '\n' || byte == '\t'; }, '?');
  return line;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view part = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < part.size() ? static_cast<uint8_t>(part[k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= part.size() ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char byte : printable(text)) {
    switch (byte) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += byte;
    }
  }
  return escaped;
}

}  // namespace subfleet
