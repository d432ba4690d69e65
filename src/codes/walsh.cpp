#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codes/families.h"
#include "codes/hadamard.h"
#include "codes/request_checks.h"
#include "codes/word_pool.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

class Walsh final : public CodeFamily {
 public:
  std::string_view name() const override { return "walsh"; }
  std::string_view summary() const override {
    return "rows of the Sylvester-Hadamard matrix: any two differ in exactly half of the units";
  }

  size_t weight(size_t length, double keep) const override {
    require_half(name(), keep);
    if (!std::has_single_bit(length) || length < 2) {
      const size_t below = std::max<size_t>(2, std::bit_floor(length));
      throw bad_request(name(), fmt::format("length {} is not a power of two; nearest: {}, {}; balanced, "
                                            "legendre, cwc and random take any length",
                                            length, below, 2 * below));
    }
    return length / 2;
  }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    weight(request.length, request.keep);
    // Entry (i, j) of the matrix is the parity of i & j. Row 0 is constant, hence no mask.
    return deal(request, request.length - 1, [&](size_t index, std::span<uint64_t> row) {
      const uint64_t flip = rudin_shapiro(index + 1) ? 1 : 0;
      for (size_t column = 0; column < request.length; ++column) {
        const uint64_t parity = static_cast<uint64_t>(std::popcount((index + 1) & column)) & 1;
        row[column / 64] |= (parity ^ flip) << (column % 64);
      }
    });
  }
};

}  // namespace

const CodeFamily& walsh_family() {
  static const Walsh family;
  return family;
}

}  // namespace subfleet
