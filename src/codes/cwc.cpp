#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "codes/families.h"
#include "codes/hadamard.h"
#include "codes/lexicode.h"
#include "codes/request_checks.h"
#include "codes/spread.h"
#include "codes/word_pool.h"
#include "codes/words.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

// Up to here Algorithm 2 takes at most a few tenths of a second: all words of 22 bits and half of them ones,
// say.
bool can_enumerate(size_t length, size_t weight, size_t rows) {
  constexpr uint64_t kMostWords = 1 << 20;
  constexpr uint64_t kMostWork = 1 << 26;
  const uint64_t words = count_words(length, weight);
  const uint64_t size = (length + 63) / 64;
  return words <= kMostWords && words * size * rows <= kMostWork;
}

// Draws rows anew in each round: in any few fixed rows some columns are almost or completely equal, and
// clients would keep or drop these units together. All rows, each as it is or complemented at random, come
// before the other half of any pair.
CodeBook draw_hadamard(const BookRequest& request, const HadamardWords& words) {
  Random random({request.seed, request.round, request.layer, Purpose::kComplementWords});
  std::vector<bool> complement(words.rows(), false);
  for (size_t row = 0; row < words.rows() && words.have_complements(); ++row)
    complement[row] = random.below(2) == 1;
  return deal(request, words.rows(), [&](size_t row, std::span<uint64_t> word) {
    words.write(row, complement[row], word);
    complement[row] = !complement[row];
  });
}

class ConstantWeight final : public CodeFamily {
 public:
  std::string_view name() const override { return "cwc"; }
  std::string_view summary() const override {
    return "constant weight code: the least distance is as large as can be found; any length and kept "
           "fraction";
  }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    const size_t length = request.length;
    const size_t ones = weight(length, request.keep);
    const size_t rows = std::min<uint64_t>(request.rows, count_words(length, ones));
    std::optional<HadamardWords> hadamard = HadamardWords::fitting(length, ones);
    if (hadamard && hadamard->count() < rows) hadamard.reset();
    // The words are too dear to make every round: as the paper says, rows and columns are shuffled instead.
    const auto found = cache_.get({length, ones, rows, request.seed}, [&]() -> std::optional<CodeBook> {
      Random random({.seed = request.seed, .purpose = Purpose::kCodeWords});
      if (can_enumerate(length, ones, rows))
        return lexicode({.length = length, .weight = ones, .rows = rows}, random);
      return spread_words(
          {.length = length, .weight = ones, .rows = rows, .above = hadamard ? hadamard->distance() : 0},
          random);
    });
    return found ? deal(request, *found) : draw_hadamard(request, *hadamard);
  }

 private:
  mutable WordCache cache_;
};

}  // namespace

const CodeFamily& cwc_family() {
  static const ConstantWeight family;
  return family;
}

}  // namespace subfleet
