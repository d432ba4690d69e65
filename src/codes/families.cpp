#include "codes/families.h"

#include <array>
#include <numeric>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {

std::vector<uint32_t> CodeFamily::order(const BookRequest& request) const {
  std::vector<uint32_t> units(request.length);
  std::iota(units.begin(), units.end(), 0U);
  Random random({request.seed, request.round, request.layer, Purpose::kTierUnits});
  random.shuffle(std::span(units));
  return units;
}

std::span<const CodeFamily* const> code_families() {
  static const std::array families{&none_family(),    &same_family(),     &random_family(),  &gold_family(),
                                   &cwc_family(),     &kasami_family(),   &walsh_family(),   &prefix_family(),
                                   &rolling_family(), &balanced_family(), &legendre_family()};
  return families;
}

const CodeFamily& code_family(std::string_view name) {
  std::vector<std::string> known;
  for (const CodeFamily* family : code_families()) {
    if (family->name() == name) return *family;
    known.emplace_back(family->name());
  }
  throw unknown_name("code family", name, known);
}

}  // namespace subfleet
