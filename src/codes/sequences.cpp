#include "codes/sequences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "codes/request_checks.h"
#include "subfleet/error.h"

namespace subfleet {

Bits shift_register(std::span<const int> taps) {
  const auto degree = static_cast<size_t>(taps.back());
  Bits bits((size_t{1} << degree) - 1, 0);
  bits[0] = 1;
  for (size_t t = 0; t + degree < bits.size(); ++t) {
    for (const int tap : taps.first(taps.size() - 1)) bits[t + degree] ^= bits[t + static_cast<size_t>(tap)];
  }
  return bits;
}

Bits xor_shifted(const Bits& a, const Bits& b, size_t shift) {
  Bits sum(a.size());
  const size_t rest = b.size() - shift;
  for (size_t i = 0; i < rest; ++i) sum[i] = a[i] ^ b[i + shift];
  for (size_t i = rest; i < sum.size(); ++i) sum[i] = a[i] ^ b[i - rest];
  return sum;
}

Bits decimate(const Bits& sequence, size_t first, size_t step) {
  Bits taken(sequence.size());
  for (size_t i = 0; i < taken.size(); ++i) taken[i] = sequence[(first + step * i) % sequence.size()];
  return taken;
}

Bits pad_longest_run(const Bits& word) {
  const size_t length = word.size();
  const auto first_one = static_cast<size_t>(std::ranges::find(word, uint8_t{1}) - word.begin());
  size_t longest = 0;
  size_t begins = length;
  size_t after = 0;  // where the longest run has ended
  // From the first 1 on, once round, no run is cut.
  for (size_t i = 0, run = 0; i < length; ++i) {
    const size_t at = first_one + i < length ? first_one + i : first_one + i - length;
    run = word[at] == 0 ? run + 1 : 0;
    const size_t begun = at + 1 >= run ? at + 1 - run : at + 1 + length - run;
    if (run > longest || (run == longest && run > 0 && begun < begins)) {
      longest = run;
      begins = begun;
      after = at + 1;
    }
  }
  Bits padded = word;
  padded.insert(padded.begin() + static_cast<std::ptrdiff_t>(after), uint8_t{0});
  return padded;
}

bool is_balanced(const Bits& word) {
  return 2 * std::accumulate(word.begin(), word.end(), size_t{0}) == word.size() + 1;
}

int SequenceFamily::degree_of(size_t length) const {
  std::vector<size_t> nearest;
  for (const int degree : degrees()) {
    const size_t padded = size_t{1} << degree;
    if (length == padded || length + 1 == padded) return degree;
    if (!nearest.empty() && padded < length) nearest.clear();
    if (nearest.empty() || nearest.back() < length) nearest.push_back(padded);
  }
  std::vector<size_t> unpadded;
  for (const size_t padded : nearest) unpadded.push_back(padded - 1);
  throw bad_request(
      name(),
      fmt::format("length {} is not 2^n or 2^n - 1 for n in {}; nearest: {} (unpadded: {}); balanced, "
                  "legendre, cwc and random take any length",
                  length, fmt::join(degrees(), ", "), fmt::join(nearest, ", "), fmt::join(unpadded, ", ")));
}

size_t SequenceFamily::weight(size_t length, double keep) const {
  const int degree = degree_of(length);
  require_half(name(), keep);
  return size_t{1} << (degree - 1);
}

CodeBook SequenceFamily::masks(size_t length) const {
  const int degree = degree_of(length);
  std::vector<Bits> balanced = words(degree);
  std::erase_if(balanced, [](const Bits& word) { return !is_balanced(word); });
  CodeBook book(balanced.size(), length);
  for (size_t row = 0; row < book.rows(); ++row) {
    const Bits mask = length == balanced[row].size() ? balanced[row] : pad_longest_run(balanced[row]);
    for (size_t column = 0; column < length; ++column) {
      if (mask[column] != 0) book.set_bit(row, column, true);
    }
  }
  return book;
}

CodeBook SequenceFamily::draw(const BookRequest& request) const {
  check_request(name(), request);
  weight(request.length, request.keep);
  const auto base = cache_.get({request.length}, [&] { return masks(request.length); });
  return deal(request, *base);
}

}  // namespace subfleet
