#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace subfleet {

// Whether i, in binary, has an odd number of neighbouring ones (the Rudin-Shapiro signs). Complementing those
// rows of a Hadamard matrix keeps every distance and leaves no column constant.
bool rudin_shapiro(size_t i);

// The non-constant rows of a Hadamard matrix as words; any two differ in half of the order. The matrix is
// Sylvester's, or its product with Paley's of order q + 1, q a prime.
// If length = order, half of each word's bits are ones, and the complements are words too. If length = order
// - 1, a column in which all rows agree is left out, and a word has (length +- 1) / 2 ones.
class HadamardWords {
 public:
  // Nothing for any other length and weight, or if no such matrix is known here.
  static std::optional<HadamardWords> fitting(size_t length, size_t weight);

  size_t rows() const { return order_ - 1; }
  size_t distance() const { return order_ / 2; }
  bool have_complements() const { return whole_; }
  size_t count() const { return have_complements() ? 2 * rows() : rows(); }  // different words

  // Writes the word of a row, counted from 0, into a word of zeros; or its complement, if have_complements().
  void write(size_t row, bool complement, std::span<uint64_t> word) const;

 private:
  HadamardWords(size_t order, size_t paley, bool whole, bool more_ones);
  bool paley_negative(size_t i, size_t j) const;

  size_t order_;
  size_t paley_;                 // order of the Paley factor; 1 if there is no such factor
  bool whole_, more_ones_;       // length = order; more ones than zeros
  std::vector<bool> is_square_;  // for each residue mod paley_ - 1, including 0
};

}  // namespace subfleet
