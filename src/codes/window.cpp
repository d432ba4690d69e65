#include "codes/window.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace subfleet {

CodeBook same_window(const BookRequest& request, size_t first, size_t weight) {
  CodeBook book(request.rows, request.length);
  for (size_t k = 0; k < weight; ++k) book.set_bit(0, (first + k) % request.length, true);
  for (size_t row = 1; row < request.rows; ++row) std::ranges::copy(book.row(0), book.row(row).begin());
  return book;
}

std::vector<uint32_t> window_order(size_t length, size_t first) {
  std::vector<uint32_t> units(length);
  std::iota(units.begin(), units.end(), 0U);
  std::rotate(units.begin(), units.begin() + static_cast<ptrdiff_t>(first), units.end());
  return units;
}

}  // namespace subfleet
