#include <bit>

#include "subfleet/codes.h"

namespace subfleet {

CodeBook::CodeBook(size_t rows, size_t length)
    : rows_(rows), length_(length), stride_((length + 63) / 64), words_(rows * stride_) {}

void CodeBook::set_bit(size_t row, size_t column, bool value) {
  const uint64_t mask = uint64_t{1} << (column % 64);
  uint64_t& word = words_[row * stride_ + column / 64];
  word = value ? word | mask : word & ~mask;
}

size_t CodeBook::weight(size_t row_index) const {
  size_t ones = 0;
  for (const uint64_t word : row(row_index)) ones += std::popcount(word);
  return ones;
}

size_t CodeBook::distance(size_t row_a, size_t row_b) const {
  const uint64_t* a = row(row_a).data();
  const uint64_t* b = row(row_b).data();
  size_t differing = 0;
  for (size_t i = 0; i < stride_; ++i) differing += std::popcount(a[i] ^ b[i]);
  return differing;
}

std::vector<uint32_t> CodeBook::kept(size_t row_index) const {
  std::vector<uint32_t> columns;
  columns.reserve(weight(row_index));
  uint32_t first = 0;
  for (uint64_t word : row(row_index)) {
    for (; word != 0; word &= word - 1)
      columns.push_back(first + static_cast<uint32_t>(std::countr_zero(word)));
    first += 64;
  }
  return columns;
}

}  // namespace subfleet
