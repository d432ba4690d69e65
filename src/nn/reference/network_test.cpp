#include "nn/reference/network.h"

#include <algorithm>

#include "nn/network_testing.h"

namespace subfleet {
namespace {

constexpr size_t kCheckedPerTensor = 60;

TEST(ReferenceNetwork, GradientsAreThoseOfCentralDifferences) {
  for (const ModelSpec& model : small_models()) {
    const auto network = reference::make_network(model);
    const std::vector<float> weights = random_weights(model);
    const Examples batch = random_examples(model, 3, 0);
    const std::vector<double> gradient = gradient_of(*network, weights, batch);
    for (const ParameterSpec& p : model_parameters(model)) {
      const size_t stride = p.size() / kCheckedPerTensor + 1;
      for (size_t i = p.offset; i < p.offset + p.size(); i += stride) {
        std::vector<float> below = weights, above = weights;
        below[i] -= 1e-4f;
        above[i] += 1e-4f;
        const double numeric = (mean_loss(*network, above, batch) - mean_loss(*network, below, batch)) /
                               (double{above[i]} - double{below[i]});
        EXPECT_NEAR(gradient[i], numeric, 1e-6) << model.name << " " << p.name << " [" << i - p.offset << "]";
      }
    }
  }
}

TEST(ReferenceNetwork, FirstOfEqualMaximaLearns) { expect_first_maximum_learns(reference::make_network); }

TEST(ReferenceNetwork, ConvolutionIsPyTorchsCrossCorrelation) {
  // The filter's only weight is above and left of its centre, so the picture moves down and right; zeros come
  // in.
  const ModelSpec model{"shift", {1, 2, 2}, {{.type = "conv2d", .name = "c1", .units = 1, .kernel = 3}}};
  const std::vector<float> weights{1, 0, 0, 0, 0, 0, 0, 0, 0, 10};
  std::vector<float> logits(4);
  reference::make_network(model)->infer(weights, std::vector<float>{1, 2, 3, 4}, logits);
  EXPECT_EQ(logits, (std::vector<float>{10, 10, 10, 11}));
}

TEST(ReferenceNetwork, ScoreIsFromBeforeTheStep) {
  const ModelSpec model = small_models().front();
  const auto network = reference::make_network(model);
  const Examples batch = random_examples(model, 4, 1);
  std::vector<float> weights(parameter_count(model), 0.0f);
  const Score score = network->train_step(weights, {batch.inputs, batch.labels}, 0.1f);
  EXPECT_NEAR(score.loss, 4 * std::log(4.0), 1e-12);
  EXPECT_EQ(score.correct, std::ranges::count(batch.labels, 0));
}

}  // namespace
}  // namespace subfleet
