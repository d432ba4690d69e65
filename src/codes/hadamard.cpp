#include "codes/hadamard.h"

#include <bit>

namespace subfleet {
namespace {

bool is_prime(size_t n) {
  if (n < 2) return false;
  for (size_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

// The order of the Paley factor: 1 if none is needed, 0 if no factor fits.
size_t paley_order(size_t order) {
  if (std::has_single_bit(order)) return 1;
  for (; order % 4 == 0; order /= 2) {
    if (is_prime(order - 1)) return order;
  }
  return 0;
}

std::vector<bool> squares(size_t q) {
  std::vector<bool> square(q, false);
  for (size_t x = 0; x < q; ++x) square[x * x % q] = true;
  return square;
}

}  // namespace

bool rudin_shapiro(size_t i) { return std::popcount(i & (i >> 1)) % 2 == 1; }

HadamardWords::HadamardWords(size_t order, size_t paley, bool whole, bool more_ones)
    : order_(order), paley_(paley), whole_(whole), more_ones_(more_ones), is_square_(squares(paley - 1)) {}

std::optional<HadamardWords> HadamardWords::fitting(size_t length, size_t weight) {
  const bool whole = 2 * weight == length;
  if (!whole && 2 * weight != length + 1 && 2 * weight + 1 != length) return std::nullopt;
  const size_t order = whole ? length : length + 1;
  const size_t paley = order < 2 ? 0 : paley_order(order);
  if (paley == 0) return std::nullopt;
  return HadamardWords(order, paley, whole, 2 * weight > length);
}

// Paley's first construction, I + S: is the entry -1?
bool HadamardWords::paley_negative(size_t i, size_t j) const {
  if (i == 0 || j == 0) return i != 0;
  return !is_square_[(j + is_square_.size() - i) % is_square_.size()];
}

void HadamardWords::write(size_t row, bool complement, std::span<uint64_t> word) const {
  const size_t i = row + 1;  // row 0 of the matrix is constant
  const size_t length = whole_ ? order_ : order_ - 1;
  const auto sylvester_negative = [&](size_t block) { return std::popcount((i / paley_) & block) % 2 == 1; };
  // Without its last column, the rows must agree in it, so as to weigh the same: on 0 if the ones are the
  // more.
  const bool last = sylvester_negative(order_ / paley_ - 1) != paley_negative(i % paley_, paley_ - 1);
  const bool flip = whole_ ? complement : last == more_ones_;
  for (size_t block = 0, j = 0; j < length; ++block) {
    const bool block_flip = sylvester_negative(block) != flip;
    for (size_t k = 0; k < paley_ && j < length; ++k, ++j) {
      if (paley_negative(i % paley_, k) != block_flip) word[j / 64] |= uint64_t{1} << (j % 64);
    }
  }
}

}  // namespace subfleet
