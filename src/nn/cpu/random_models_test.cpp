#include <gtest/gtest.h>

#include "model/random_models_testing.h"
#include "nn/cpu/network.h"
#include "nn/network_testing.h"
#include "nn/reference/network.h"
#include "subfleet/submodel.h"

namespace subfleet {
namespace {

void expect_to_train_alike(const ModelSpec& model) {
  const std::vector<float> weights = random_weights(model);
  const Examples batch = random_examples(model, 3, 4);
  const std::vector<double> actual = gradient_of(*cpu::make_network(model), weights, batch);
  const std::vector<double> expected = gradient_of(*reference::make_network(model), weights, batch);
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(actual[i] - expected[i]));
  }
  EXPECT_GT(largest, 0) << model_toml(model);
  EXPECT_LE(error, 1e-4 * largest + 0x1p-24) << model_toml(model);
}

TEST(RandomModels, WhatPassesTheCheckTrainsAlikeOnCpuAndReference) {
  for (uint64_t seed = 0; seed < 300; ++seed) expect_to_train_alike(random_model(seed));
}

TEST(RandomModels, RescaledSubModelsTrainAlikeOnCpuAndReference) {
  size_t rescaled = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const ModelSpec model = random_model(seed);
    const SubModel sub(model, random_kept(model, seed), true);
    if (sub.size() == sub.whole_size()) continue;
    expect_to_train_alike(sub.spec());
    ++rescaled;
  }
  EXPECT_GT(rescaled, 100u);
}

}  // namespace
}  // namespace subfleet
