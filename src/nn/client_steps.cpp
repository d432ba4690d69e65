#include "nn/client_steps.h"

#include "base/wide_vectors.h"

namespace subfleet {

void ClientSteps::begin(const LocalTraining& how, std::span<const float> given) {
  rule_ = ClientRule(how);
  if (rule_.is_plain()) return;
  before_.assign(given.begin(), given.end());
  if (rule_.momentum != 0) movement_.assign(given.size(), 0.0f);
  if (rule_.proximal != 0) given_.assign(given.begin(), given.end());
}

void ClientSteps::finish(std::span<float> weights) {
  if (rule_.is_plain()) return;
  rule_.with_flags([&](auto momentum, auto proximal) {
    on_wide_vectors([momentum, proximal, rule = rule_, count = weights.size(),
                     arrays = ClientArrays{.weights = weights.data(),
                                           .before = before_.data(),
                                           .movement = movement_.data(),
                                           .given = given_.data()}] {
#pragma omp simd
      for (size_t i = 0; i < count; ++i) rule.template finish<momentum, proximal>(arrays, i);
    });
  });
}

}  // namespace subfleet
