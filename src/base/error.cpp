#include "subfleet/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace subfleet {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Error bad_request(std::string_view what, std::string_view why) {
  return {Error::Kind::kRequest, fmt::format("{}: {}", what, why)};
}

Error failure(std::string_view what, std::string_view why) {
  return {Error::Kind::kFailure, fmt::format("{}: {}", what, why)};
}

Error unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known) {
  constexpr size_t kShortList = 10, kNearest = 3;
  std::vector<std::string> nearest(known.begin(), known.end());
  std::stable_sort(nearest.begin(), nearest.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  std::string why = fmt::format("unknown '{}'", name);
  if (known.size() > kShortList) {
    nearest.resize(kNearest);
    why += fmt::format("; nearest: {}", fmt::join(nearest, ", "));
  } else if (!known.empty()) {
    why += fmt::format("; nearest: {} (known: {})", nearest.front(), fmt::join(known, ", "));
  }
  return bad_request(what, why);
}

}  // namespace subfleet
