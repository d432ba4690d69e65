#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codes/word_pool.h"
#include "subfleet/codes.h"

namespace subfleet {

using Bits = std::vector<uint8_t>;

// One period, 2^n - 1 bits, of the shift register s[t + n] = sum of c_k s[t + k] mod 2, started from 1, 0,
// ..., 0. `taps` holds the exponents of the feedback polynomial: {0, 2, 5} is 1 + x^2 + x^5, n = 5.
Bits shift_register(std::span<const int> taps);

// a + b mod 2, element by element. b is as long as a and is read circularly from `shift` on.
Bits xor_shifted(const Bits& a, const Bits& b, size_t shift);

// Every step-th bit of a periodic sequence, from `first` on; as long as the sequence.
Bits decimate(const Bits& sequence, size_t first, size_t step);

// The word with one more 0, placed after its longest circular run of zeros. Of several, the first from the
// word's beginning counts.
Bits pad_longest_run(const Bits& word);

bool is_balanced(const Bits& word);  // one more 1 than zeros

// A family of shift register words. Its masks are the balanced words of length 2^n - 1, or the same padded to
// 2^n; both have weight 2^(n-1).
class SequenceFamily : public CodeFamily {
 public:
  size_t weight(size_t length, double keep) const final;
  CodeBook draw(const BookRequest& request) const final;

 protected:
  virtual std::span<const int> degrees() const = 0;       // ascending
  virtual std::vector<Bits> words(int degree) const = 0;  // all of them, 2^degree - 1 bits each

 private:
  int degree_of(size_t length) const;
  CodeBook masks(size_t length) const;

  mutable WordCache cache_;
};

}  // namespace subfleet
