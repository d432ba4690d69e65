#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace subfleet {

// Whether i has an odd number of neighbouring ones in binary. Complementing those rows of a Hadamard matrix
// (the Rudin-Shapiro signs) keeps every distance and leaves no column constant.
bool rudin_shapiro(size_t i);

// The non-constant rows of a Hadamard matrix (Sylvester's, or its product with Paley's of order q + 1, q a
// prime) as words any two of which differ in half of the order. For length = order, half of each word are
// ones, and so are half of its complement, which is a word too; for length = order - 1 the rows lack a column
// in which they agree, and have (length +- 1) / 2 ones.
class HadamardWords {
 public:
  // Nothing for any other length and weight, or where no such matrix is known here.
  static std::optional<HadamardWords> fitting(size_t length, size_t weight);

  size_t rows() const { return order_ - 1; }
  size_t distance() const { return order_ / 2; }
  bool have_complements() const { return whole_; }
  size_t count() const { return have_complements() ? 2 * rows() : rows(); }  // of different words

  // Writes the word of a row, counted from 0, or its complement (where there are any) into a word of zeros.
  void write(size_t row, bool complement, std::span<uint64_t> word) const;

 private:
  HadamardWords(size_t order, size_t paley, bool whole, bool more_ones);
  bool paley_negative(size_t i, size_t j) const;

  size_t order_;
  size_t paley_;                 // order of the Paley factor; 1 for none
  bool whole_, more_ones_;       // length = order; more ones than zeros
  std::vector<bool> is_square_;  // of each residue mod paley_ - 1, 0 among them
};

}  // namespace subfleet
