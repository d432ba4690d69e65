#include "model/initial_names.h"

#include <array>
#include <string>
#include <vector>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr std::array kInitials{Initial::kGlorot, Initial::kHe, Initial::kZero};

}  // namespace

std::string_view name_of(Initial initial) {
  switch (initial) {
    case Initial::kGlorot:
      return "glorot";
    case Initial::kHe:
      return "he";
    case Initial::kZero:
      break;
  }
  return "zero";
}

Initial initial_of(std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const Initial initial : kInitials) {
    if (name_of(initial) == name) return initial;
    known.emplace_back(name_of(initial));
  }
  throw unknown_name(what, name, known);
}

}  // namespace subfleet
