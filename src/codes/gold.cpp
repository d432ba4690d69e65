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

// Multiples of 4 have no preferred pair, so degree 8 is not in the paper. Niho, "Multi-valued
// cross-correlation functions between two maximal linear recursive sequences", 1972: every d-th bit of an
// m-sequence, with d = 2^((n+2)/2) - 1, is another whose correlations with the first take four values, -1 -
// 2^(n/2), -1, -1 + 2^(n/2) and -1 + 2^((n+2)/2): here -17, -1, 15 and 31, below Gold's bound of 33.
std::array<Bits, 2> niho_pair() {
  const Bits u = shift_register(std::array{0, 2, 3, 4, 8});
  return {u, decimate(u, 0, 31)};
}

std::array<Bits, 2> first_words(int degree) {
  if (degree == 8) return niho_pair();
  const PreferredPair& pair = preferred_pairs().at(degree);
  return {shift_register(pair.first), shift_register(pair.second)};
}

// Gold, "Optimal binary sequences for spread spectrum multiplexing", 1967. Balanced words: 2^(n-1) + 1 of odd
// degree, 3 * 2^(n-2) + 1 of even degree: 17, 49, 65, 257, 769, 1025; at degree 8 121 of 257.
class Gold final : public SequenceFamily {
 public:
  std::string_view name() const override { return "gold"; }
  std::string_view summary() const override {
    return "balanced Gold words: low cross-correlation; lengths 2^n and 2^n - 1 for n from 5 to 11";
  }

 protected:
  std::span<const int> degrees() const override {
    static constexpr std::array kDegrees{5, 6, 7, 8, 9, 10, 11};
    return kDegrees;
  }
  std::vector<Bits> words(int degree) const override { return gold_words(degree); }
};

}  // namespace

std::vector<Bits> gold_words(int degree) {
  const auto [u, v] = first_words(degree);
  std::vector<Bits> words{u, v};
  for (size_t shift = 0; shift < v.size(); ++shift) words.push_back(xor_shifted(u, v, shift));
  return words;
}

const CodeFamily& gold_family() {
  static const Gold family;
  return family;
}

}  // namespace subfleet
