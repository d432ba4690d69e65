#include "codes/words.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace subfleet {
namespace {

std::string_view bytes_of(std::span<const uint64_t> row) {
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

}  // namespace

uint64_t count_words(size_t length, size_t weight) {
  constexpr uint64_t kMany = uint64_t{1} << 63;
  weight = std::min(weight, length - weight);
  uint64_t count = 1;
  for (size_t k = 1; k <= weight; ++k) {
    // count * (length - weight + k) / k is whole; dividing first by the common factors keeps the product
    // small.
    uint64_t factor = length - weight + k;
    uint64_t divisor = k;
    const uint64_t common = std::gcd(factor, divisor);
    factor /= common;
    divisor /= common;
    count /= divisor;
    if (count > kMany / factor) return kMany;
    count *= factor;
  }
  return count;
}

CodeBook lexicographic_words(size_t length, size_t weight) {
  CodeBook words(count_words(length, weight), length);
  std::vector<uint8_t> word(length, 0);
  std::fill(word.end() - static_cast<std::ptrdiff_t>(weight), word.end(), uint8_t{1});
  for (size_t row = 0; row < words.rows(); ++row) {
    for (size_t column = 0; column < length; ++column) {
      if (word[column] != 0) words.set_bit(row, column, true);
    }
    std::next_permutation(word.begin(), word.end());
  }
  return words;
}

CodeBook random_words(size_t length, size_t weight, size_t rows, Random& random) {
  // When most words are wanted, drawing until a new one comes would take long: choose among all of them.
  if (count_words(length, weight) / 2 < rows) {
    const CodeBook all = lexicographic_words(length, weight);
    std::vector<uint32_t> order(all.rows());
    std::iota(order.begin(), order.end(), 0U);
    random.shuffle(std::span(order));
    CodeBook chosen(rows, length);
    for (size_t row = 0; row < rows; ++row) std::ranges::copy(all.row(order[row]), chosen.row(row).begin());
    return chosen;
  }
  // The rarer of ones and zeros are placed, by a Fisher-Yates shuffle that stops after them.
  const bool place_ones = weight <= length - weight;
  const size_t placed = place_ones ? weight : length - weight;
  std::vector<uint32_t> columns(length);
  std::iota(columns.begin(), columns.end(), 0U);
  std::unordered_set<std::string_view> used;
  CodeBook words(rows, length);
  for (size_t row = 0; row < rows; ++row) {
    do {
      for (size_t column = 0; column < length; ++column) words.set_bit(row, column, !place_ones);
      for (size_t k = 0; k < placed; ++k) {
        std::swap(columns[k], columns[k + random.below(static_cast<uint32_t>(length - k))]);
        words.set_bit(row, columns[k], place_ones);
      }
    } while (!used.insert(bytes_of(words.row(row))).second);
  }
  return words;
}

}  // namespace subfleet
