#include "nn/state_checks.h"

#include <fmt/format.h>

#include "subfleet/error.h"

namespace subfleet {

void check_weights(const ModelSpec& model, size_t weights, std::span<const float> given) {
  if (given.size() == weights) return;
  throw bad_request("weights", fmt::format("{} of them, but {} has {}", given.size(), model.name, weights));
}

void check_moments(const ModelSpec& model, size_t weights, std::span<const std::string> names,
                   std::span<const std::vector<float>> given) {
  if (given.size() != names.size()) {
    throw bad_request("moments", fmt::format("{} of them; the optimizer has {}", given.size(), names.size()));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (given[i].size() == weights) continue;
    throw bad_request("moments", fmt::format("'{}' has {} values; {} has {}", names[i], given[i].size(),
                                             model.name, weights));
  }
}

}  // namespace subfleet
