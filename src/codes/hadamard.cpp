#include "codes/hadamard.h"

#include <bit>
#include <vector>

namespace subfleet {
namespace {

bool is_prime(size_t n) {
  if (n < 2) return false;
  for (size_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

// The order of the Paley factor: 1 for none, 0 where no factor fits.
size_t paley_order(size_t order) {
  if (std::has_single_bit(order)) return 1;
  for (; order % 4 == 0; order /= 2) {
    if (is_prime(order - 1)) return order;
  }
  return 0;
}

// Which residues mod q are squares, 0 among them.
std::vector<bool> squares(size_t q) {
  std::vector<bool> square(q, false);
  for (size_t x = 0; x < q; ++x) square[x * x % q] = true;
  return square;
}

}  // namespace

bool rudin_shapiro(size_t i) { return std::popcount(i & (i >> 1)) % 2 == 1; }

std::optional<CodeBook> hadamard_words(size_t length, size_t weight, size_t rows) {
  const bool whole = 2 * weight == length;
  if (!whole && 2 * weight != length + 1 && 2 * weight + 1 != length) return std::nullopt;
  const size_t order = whole ? length : length + 1;
  const size_t paley = paley_order(order);
  const size_t matrix_rows = order - 1;  // without the constant one
  if (paley == 0 || rows > (whole ? 2 * matrix_rows : matrix_rows)) return std::nullopt;

  const std::vector<bool> square = squares(paley - 1);
  // Paley's first construction, I + S: is the entry -1?
  const auto paley_negative = [&](size_t i, size_t j) {
    if (i == 0 || j == 0) return i != 0;
    return !square[(j + square.size() - i) % square.size()];
  };
  const auto negative = [&](size_t i, size_t j) {
    const bool sylvester_negative = std::popcount((i / paley) & (j / paley)) % 2 == 1;
    return sylvester_negative != paley_negative(i % paley, j % paley);
  };
  CodeBook words(rows, length);
  for (size_t row = 0; row < rows; ++row) {
    const size_t i = row % matrix_rows + 1;
    // Without a column, the rows must agree in it, so as to weigh the same: on 0 if the ones are the more.
    const bool flip =
        whole ? rudin_shapiro(i) != (row >= matrix_rows) : negative(i, length) != (weight < length - weight);
    for (size_t j = 0; j < length; ++j) {
      if (negative(i, j) != flip) words.set_bit(row, j, true);
    }
  }
  return words;
}

}  // namespace subfleet
