#include "codes/kasami.h"

#include <algorithm>
#include <array>
#include <map>

#include "codes/families.h"

namespace subfleet {
namespace {

const std::map<int, std::vector<int>>& primitive_polynomials() {
  static const std::map<int, std::vector<int>> polynomials{
      {4, {0, 1, 4}}, {6, {0, 1, 6}}, {8, {0, 2, 3, 4, 8}}, {10, {0, 3, 10}}};
  return polynomials;
}

// The large set of Kasami words (Sarwate and Pursley, "Crosscorrelation properties of pseudorandom and
// related sequences", 1980). The small set is useless as masks: except for u its words are bent, and
// so not balanced. Degree 12 is left out for its size, 2^18 words. Balanced words: 27 of 64, 237 of 512, 1977
// of 4096, 16113 of 32768.
class Kasami final : public SequenceFamily {
 public:
  std::string_view name() const override { return "kasami"; }
  std::string_view summary() const override {
    return "balanced words of the large Kasami set: many, of low cross-correlation; lengths 2^n and 2^n - 1 "
           "for n in 4, 6, 8, "
           "10";
  }

 protected:
  std::span<const int> degrees() const override {
    static constexpr std::array kDegrees{4, 6, 8, 10};
    return kDegrees;
  }
  std::vector<Bits> words(int degree) const override { return kasami_words(degree); }
};

}  // namespace

std::vector<Bits> kasami_words(int degree) {
  const Bits u = shift_register(primitive_polynomials().at(degree));
  const size_t period = u.size();
  const size_t root = size_t{1} << (degree / 2);
  // Of step root + 1, some phases of u give only zeros.
  Bits short_sequence;
  for (size_t first = 0; !std::ranges::count(short_sequence, uint8_t{1}); ++first) {
    short_sequence = decimate(u, first, root + 1);
  }
  std::vector<Bits> steps;
  for (size_t first = 0; first < period; ++first) steps.push_back(decimate(u, first, 2 * root + 1));
  std::vector<Bits> words;
  words.reserve(root * (period + 1));
  for (size_t shift = 0; shift < root; ++shift) {
    const Bits base = shift == 0 ? u : xor_shifted(u, short_sequence, shift - 1);
    words.push_back(base);
    for (const Bits& step : steps) words.push_back(xor_shifted(base, step, 0));
  }
  return words;
}

const CodeFamily& kasami_family() {
  static const Kasami family;
  return family;
}

}  // namespace subfleet
