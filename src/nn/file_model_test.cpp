#include <gtest/gtest.h>

#include "nn/network_testing.h"
#include "nn/reference/network.h"
#include "subfleet/submodel.h"

namespace subfleet {
namespace {

TEST(FileModel, ASubModelOfAModelFileLearnsAndOnlyItsWeightsChange) {
  const ModelSpec model = parse_model(R"(
    input = [1, 8, 8]
    layer = [
      { type = "conv2d", units = 4, kernel = 3 },
      { type = "relu" },
      { type = "maxpool", kernel = 2 },
      { type = "conv2d", units = 6, kernel = 3, initial = "he" },
      { type = "relu" },
      { type = "flatten" },
      { type = "dense", units = 8 },
      { type = "relu" },
      { type = "dense", units = 3 },
    ]
  )",
                                      "tiny.toml");
  const std::vector<std::vector<uint32_t>> kept{{0, 2, 5}, {1, 2, 6, 7}};
  const SubModel half(model, kept);
  std::vector<float> whole = initial_weights(model, 1);
  const std::vector<float> before = whole;
  std::vector<float> weights(half.size());
  half.gather(whole, weights);

  const auto network = reference::make_network(half.spec());
  const Examples batch = random_examples(model, 6, 9);
  const double first = network->train_step(weights, {batch.inputs, batch.labels}, 0.1f).loss;
  double last = first;
  for (int step = 0; step < 60; ++step) {
    last = network->train_step(weights, {batch.inputs, batch.labels}, 0.1f).loss;
  }
  EXPECT_LT(last, 0.5 * first);

  half.scatter(weights, whole);
  std::vector<bool> held(whole.size(), false);
  half.for_each_run([&](size_t full, size_t, size_t count) {
    for (size_t i = full; i < full + count; ++i) held[i] = true;
  });
  size_t changed = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (held[i]) {
      changed += whole[i] != before[i] ? 1 : 0;
    } else {
      EXPECT_EQ(whole[i], before[i]) << i;
    }
  }
  EXPECT_GT(changed, half.size() / 2);
}

}  // namespace
}  // namespace subfleet
