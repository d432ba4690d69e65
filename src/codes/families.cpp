#include "codes/families.h"

#include <fmt/format.h>

#include <mutex>
#include <numeric>
#include <utility>

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

namespace {

// The families that the program registered.
struct Registered {
  std::mutex mutex;
  std::vector<std::unique_ptr<const CodeFamily>> families;
};

Registered& registered() {
  static Registered all;
  return all;
}

std::vector<const CodeFamily*> own_families() {
  return {&none_family(),    &same_family(),     &random_family(),  &gold_family(),
          &cwc_family(),     &kasami_family(),   &walsh_family(),   &prefix_family(),
          &rolling_family(), &balanced_family(), &legendre_family()};
}

// The caller holds the mutex.
std::vector<const CodeFamily*> all_families(const Registered& more) {
  std::vector<const CodeFamily*> families = own_families();
  for (const auto& family : more.families) families.push_back(family.get());
  return families;
}

}  // namespace

std::vector<const CodeFamily*> code_families() {
  Registered& more = registered();
  const std::lock_guard lock(more.mutex);
  return all_families(more);
}

void register_code_family(std::unique_ptr<const CodeFamily> family) {
  const std::string name(family->name());
  if (name.empty()) throw bad_request("code family", "its name is empty; name() names it in code.family");
  Registered& more = registered();
  const std::lock_guard lock(more.mutex);
  for (const CodeFamily* other : all_families(more)) {
    if (other->name() == name)
      throw bad_request("code family", fmt::format("'{}' is there already; choose another name", name));
  }
  more.families.push_back(std::move(family));
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
