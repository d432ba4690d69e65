#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The masks of one layer for one round: a row of `length` bits per client; bit 1 keeps the unit.
class CodeBook {
 public:
  CodeBook(size_t rows, size_t length);

  size_t rows() const { return rows_; }
  size_t length() const { return length_; }
  bool bit(size_t row, size_t column) const {
    return (words_[row * stride_ + column / 64] >> (column % 64)) & 1;
  }
  void set_bit(size_t row, size_t column, bool value);
  // A row packed into 64-bit words, bit j of the row at bit j % 64 of word j / 64; unused bits are 0.
  std::span<const uint64_t> row(size_t index) const { return {words_.data() + index * stride_, stride_}; }
  std::span<uint64_t> row(size_t index) { return {words_.data() + index * stride_, stride_}; }

  size_t weight(size_t row) const;                    // ones in a row
  size_t distance(size_t row_a, size_t row_b) const;  // Hamming
  std::vector<uint32_t> kept(size_t row) const;       // the columns of the ones, ascending

  bool operator==(const CodeBook&) const = default;

 private:
  size_t rows_, length_, stride_;
  std::vector<uint64_t> words_;
};

// What a layer needs in one round. (seed, round, layer) names the book: the same request gives the same bits.
struct BookRequest {
  size_t length = 0;  // units of the layer
  size_t rows = 0;    // clients
  double keep = 0.5;  // kept fraction of the units
  uint64_t seed = 0;
  uint32_t round = 0;
  uint32_t layer = 0;  // which droppable layer, so that two layers of one length get different books
};

// How a layer's masks are made. A new family of Subfleet is one file in src/codes and one line in
// families.cpp; a program adds its own with register_code_family(). Every method may be called from several
// threads at once.
class CodeFamily {
 public:
  virtual ~CodeFamily() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // one line for --help

  // Ones in every word for this length and kept fraction; throws Error, naming what can be met, if it cannot
  // be.
  virtual size_t weight(size_t length, double keep) const = 0;

  // The book of one round. Throws like weight().
  virtual CodeBook draw(const BookRequest& request) const = 0;

  // All units, in the order in which weaker tiers keep those of their word: shuffled by (seed, round, layer),
  // unless the family's words are windows, which shrink at their end.
  virtual std::vector<uint32_t> order(const BookRequest& request) const;
};

// Every family: Subfleet's in the order of the documentation, then those that this program registered.
std::vector<const CodeFamily*> code_families();

// Adds a family of the program's own, which can then be named wherever Subfleet's can (code.family). It stays
// until the program ends. Throws Error if it has no name or the name is taken. Call it before the first run:
// sub-models are rebuilt from the family's name, so every process that trains has to register it, and so has
// one that resumes the run.
void register_code_family(std::unique_ptr<const CodeFamily> family);

// The family of that name; throws Error naming the nearest.
const CodeFamily& code_family(std::string_view name);

}  // namespace subfleet
