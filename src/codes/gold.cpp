#include "codes/gold.h"

#include <array>
#include <map>

#include "codes/families.h"

namespace subfleet {
namespace {

struct PreferredPair {
  std::vector<int> first, second;  // exponents of the polynomials
};

// The paper's table "Preferred polynomial pairs", with the degree-6 misprint 1 + x^6 (not primitive) mended.
const std::map<int, PreferredPair>& preferred_pairs() {
  static const std::map<int, PreferredPair> pairs{
      {5, {{0, 2, 5}, {0, 2, 3, 4, 5}}},    {6, {{0, 1, 6}, {0, 1, 2, 5, 6}}},
      {7, {{0, 3, 7}, {0, 1, 2, 3, 7}}},    {9, {{0, 4, 9}, {0, 3, 4, 6, 9}}},
      {10, {{0, 3, 10}, {0, 2, 3, 8, 10}}}, {11, {{0, 2, 5, 8, 11}, {0, 2, 11}}},
  };
  return pairs;
}

// Gold, "Optimal binary sequences for spread spectrum multiplexing", 1967. Balanced words: 2^(n-1) + 1 of odd
// degree, 3 * 2^(n-2) + 1 of even degree: 17, 49, 65, 257, 769, 1025.
class Gold final : public SequenceFamily {
 public:
  std::string_view name() const override { return "gold"; }
  std::string_view summary() const override {
    return "balanced Gold words: low cross-correlation; lengths 2^n and 2^n - 1 for n in 5, 6, 7, 9, 10, 11";
  }

 protected:
  std::span<const int> degrees() const override {
    static constexpr std::array kDegrees{5, 6, 7, 9, 10, 11};
    return kDegrees;
  }
  std::vector<Bits> words(int degree) const override { return gold_words(degree); }
};

}  // namespace

std::vector<Bits> gold_words(int degree) {
  const PreferredPair& pair = preferred_pairs().at(degree);
  const Bits u = shift_register(pair.first);
  const Bits v = shift_register(pair.second);
  std::vector<Bits> words{u, v};
  for (size_t shift = 0; shift < v.size(); ++shift) words.push_back(xor_shifted(u, v, shift));
  return words;
}

const CodeFamily& gold_family() {
  static const Gold family;
  return family;
}

}  // namespace subfleet
