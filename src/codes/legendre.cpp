#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/word_pool.h"
#include "codes/words.h"

namespace subfleet {
namespace {

constexpr size_t kMostLags = size_t{1} << 14;  // for longer words, no step is looked for

bool is_prime(uint64_t n) {
  for (uint64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

// The least number whose powers are all the residues but 0 of an odd prime.
uint64_t primitive_root(uint64_t prime) {
  std::vector<uint64_t> exponents;  // one of them gives 1 unless the number is a primitive root
  uint64_t rest = prime - 1;
  for (uint64_t d = 2; rest > 1; ++d) {
    if (d * d > rest) d = rest;
    if (rest % d == 0) exponents.push_back((prime - 1) / d);
    while (rest % d == 0) rest /= d;
  }
  const auto is_root = [&](uint64_t g) {
    return std::ranges::none_of(exponents, [&](uint64_t e) { return power(g, e, prime) == 1; });
  };
  uint64_t g = 2;
  while (!is_root(g)) ++g;
  return g;
}

// The residues of p, the smallest odd prime that is no less than the length, in an order that begins with the
// squares: g^0, g^2, g^4, ..., then g^1, g^3, ..., then 0. The word of a shift keeps the `weight` units x
// whose x + shift come first in that order; its twin keeps the units whose (x + shift) / g come first. At one
// half the twin is the complement, except for rounding.
//
// At one half, words are the squares: the sum over x of the Legendre symbols of x + a and x + b is -1, so two
// shifts correlate by 3 at most (the 0 counts as no square), and by 7 + 3 (p - length) for any length: each
// unit fewer than p costs 1, and 2 where a word takes another in its place. Other weights take a part of the
// squares, or all of them and a part of the others. Their overlaps are not as even, but depend on the
// difference of the shifts alone: so the shifts are 0, d, 2d, ... with the d whose multiples overlap least.
class ResidueWords {
 public:
  ResidueWords(size_t length, size_t weight);

  size_t prime() const { return prime_; }
  void write(size_t shift, bool twin, std::span<uint64_t> word) const;
  size_t best_step(size_t rows) const;

 private:
  size_t length_, weight_, prime_;
  uint64_t root_;
  std::vector<uint32_t> order_;  // of the residues
};

ResidueWords::ResidueWords(size_t length, size_t weight)
    : length_(length), weight_(weight), prime_(std::max<size_t>(3, length | 1)) {
  while (!is_prime(prime_)) prime_ += 2;
  root_ = primitive_root(prime_);
  order_.reserve(prime_);
  for (const uint64_t first : {uint64_t{1}, root_}) {
    uint64_t residue = first;
    do {
      order_.push_back(static_cast<uint32_t>(residue));
      residue = residue * root_ % prime_ * root_ % prime_;
    } while (residue != first);
  }
  order_.push_back(0);
}

void ResidueWords::write(size_t shift, bool twin, std::span<uint64_t> word) const {
  const uint64_t scale = twin ? root_ : 1;
  size_t ones = 0;
  for (size_t i = 0; ones < weight_; ++i) {
    const uint64_t unit = (order_[i] * scale + prime_ - shift) % prime_;
    if (unit >= length_) continue;
    word[unit / 64] |= uint64_t{1} << (unit % 64);
    ++ones;
  }
}

size_t ResidueWords::best_step(size_t rows) const {
  if (rows < 2 || prime_ > kMostLags) return 1;
  // overlap[d]: of the words of all p units whose shifts differ by d.
  const size_t whole = (weight_ * prime_ + length_ / 2) / length_;
  std::vector<uint8_t> kept(2 * prime_, 0);
  for (size_t i = 0; i < whole; ++i) kept[order_[i]] = kept[order_[i] + prime_] = 1;
  std::vector<uint32_t> overlap(prime_, 0);
  for (size_t i = 0; i < whole; ++i) {
    const uint8_t* from = kept.data() + order_[i];
    for (size_t d = 0; d < prime_; ++d) overlap[d] += from[d];
  }
  size_t best = 1;
  uint32_t least = UINT32_MAX;
  for (size_t step = 1; step <= prime_ / 2; ++step) {
    uint32_t most = 0;
    size_t multiple = step;
    for (size_t row = 1; row < std::min(rows, prime_) && most < least; ++row) {
      most = std::max(most, overlap[multiple]);
      multiple = (multiple + step) % prime_;
    }
    if (most < least) {
      least = most;
      best = step;
    }
  }
  return best;
}

class Legendre final : public CodeFamily {
 public:
  std::string_view name() const override { return "legendre"; }
  std::string_view summary() const override {
    return "shifts of the Legendre sequence: low correlation, like Gold's, for any length and kept fraction";
  }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    const size_t ones = weight(request.length, request.keep);
    const auto words = cache_.get({request.length, ones, request.rows, 0},
                                  [&] { return make_words(request.length, ones, request.rows); });
    return deal(request, *words);
  }

 private:
  // As many different words as there are rows, or as shifts and twins give.
  static CodeBook make_words(size_t length, size_t ones, size_t rows) {
    const ResidueWords residues(length, ones);
    const size_t step = residues.best_step(rows);
    CodeBook words(std::min<uint64_t>(rows, count_words(length, ones)), length);
    std::unordered_set<std::string_view> used;
    for (const bool twin : {false, true}) {
      for (size_t i = 0; i < residues.prime(); ++i) {
        if (used.size() == words.rows()) return words;
        const std::span<uint64_t> word = words.row(used.size());
        residues.write(i * step % residues.prime(), twin, word);
        if (!used.emplace(reinterpret_cast<const char*>(word.data()), word.size_bytes()).second)
          std::ranges::fill(word, uint64_t{0});
      }
    }
    CodeBook found(used.size(), length);
    for (size_t row = 0; row < found.rows(); ++row) std::ranges::copy(words.row(row), found.row(row).begin());
    return found;
  }

  mutable WordCache cache_;
};

}  // namespace

const CodeFamily& legendre_family() {
  static const Legendre family;
  return family;
}

}  // namespace subfleet
