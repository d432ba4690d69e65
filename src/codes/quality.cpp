#include "subfleet/codes/quality.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codes/bounds.h"

namespace subfleet {
namespace {

constexpr size_t kMostWork = size_t{1} << 26;  // comparisons of 64 bits: some tenths of a second

size_t magnitude(size_t length, size_t distance) {
  return 2 * distance > length ? 2 * distance - length : length - 2 * distance;
}

// How many rows can be compared in pairs if one comparison costs that much.
size_t affordable_rows(size_t rows, size_t cost) {
  const auto most =
      static_cast<size_t>(std::sqrt(2.0 * static_cast<double>(kMostWork) / static_cast<double>(cost)));
  return std::min(rows, most);
}

size_t count_distinct(const CodeBook& book) {
  std::unordered_set<std::string_view> words;
  for (size_t row = 0; row < book.rows(); ++row) {
    const auto bits = book.row(row);
    words.emplace(reinterpret_cast<const char*>(bits.data()), bits.size_bytes());
  }
  return words.size();
}

// Moves bit j + 1 to bit j, and bit 0 to the end.
void rotate(std::span<uint64_t> row, size_t length) {
  const uint64_t first = row[0] & 1;
  for (size_t i = 0; i + 1 < row.size(); ++i) row[i] = (row[i] >> 1) | (row[i + 1] << 63);
  row.back() >>= 1;
  row.back() |= first << ((length - 1) % 64);
}

size_t count_differing(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  size_t differing = 0;
  for (size_t i = 0; i < a.size(); ++i) differing += std::popcount(a[i] ^ b[i]);
  return differing;
}

size_t largest_shifted(const CodeBook& book, size_t rows) {
  size_t largest = 0;
  for (size_t row = 1; row < rows; ++row) {
    std::vector<uint64_t> shifted(book.row(row).begin(), book.row(row).end());
    for (size_t shift = 0; shift < book.length(); ++shift) {
      for (size_t other = 0; other < row; ++other) {
        largest = std::max(largest, magnitude(book.length(), count_differing(shifted, book.row(other))));
      }
      rotate(shifted, book.length());
    }
  }
  return largest;
}

void measure_pairs(const CodeBook& book, BookQuality& quality) {
  size_t least = book.length();
  size_t sum = 0;
  size_t correlation = 0;
  size_t overlap = 0;
  size_t overlap_sum = 0;
  std::vector<size_t> weights(quality.pair_rows);
  for (size_t row = 0; row < quality.pair_rows; ++row) {
    weights[row] = book.weight(row);
    for (size_t other = 0; other < row; ++other) {
      const size_t distance = book.distance(row, other);
      const size_t shared = (weights[row] + weights[other] - distance) / 2;
      overlap = std::max(overlap, shared);
      overlap_sum += shared;
      least = std::min(least, distance);
      sum += distance;
      correlation = std::max(correlation, magnitude(book.length(), distance));
    }
  }
  const auto rows = static_cast<double>(quality.pair_rows);
  quality.least_distance = least;
  quality.mean_distance = static_cast<double>(sum) / (rows * (rows - 1) / 2);
  quality.correlation = correlation;
  quality.largest_overlap = overlap;
  quality.mean_overlap = static_cast<double>(overlap_sum) / (rows * (rows - 1) / 2);
}

void measure_coverage(const CodeBook& book, BookQuality& quality) {
  std::vector<size_t> coverage(book.length(), 0);
  for (size_t row = 0; row < book.rows(); ++row) {
    for (const uint32_t unit : book.kept(row)) ++coverage[unit];
  }
  const auto [least, largest] = std::ranges::minmax(coverage);
  quality.least_coverage = least;
  quality.largest_coverage = largest;
  size_t sum = 0;
  for (const size_t rows : coverage) sum += rows;
  quality.mean_coverage = static_cast<double>(sum) / static_cast<double>(book.length());
  quality.uncovered_units = static_cast<size_t>(std::ranges::count(coverage, size_t{0}));
}

}  // namespace

BookQuality measure(const CodeBook& book, Shifts shifts) {
  BookQuality quality{.rows = book.rows(), .length = book.length(), .distinct_words = count_distinct(book)};
  quality.least_weight = quality.largest_weight = book.weight(0);
  for (size_t row = 1; row < book.rows(); ++row) {
    const size_t weight = book.weight(row);
    quality.least_weight = std::min(quality.least_weight, weight);
    quality.largest_weight = std::max(quality.largest_weight, weight);
  }
  measure_coverage(book, quality);
  if (book.rows() < 2) return quality;

  const size_t size = book.row(0).size();
  quality.pair_rows = affordable_rows(book.rows(), size);
  measure_pairs(book, quality);
  if (shifts == Shifts::kAll) quality.shift_rows = affordable_rows(book.rows(), size * book.length());
  if (quality.shift_rows >= 2) quality.shifted_correlation = largest_shifted(book, quality.shift_rows);
  if (quality.least_weight == quality.largest_weight) {
    quality.distance_bound = least_distance_bound(book.length(), quality.least_weight, quality.pair_rows);
  }
  return quality;
}

}  // namespace subfleet
