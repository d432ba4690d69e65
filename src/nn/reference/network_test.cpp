#include "nn/reference/network.h"

#include <algorithm>
#include <set>

#include "nn/network_testing.h"

namespace subfleet {
namespace {

constexpr size_t kCheckedPerTensor = 60;

void expect_gradients_of_central_differences(const std::vector<ModelSpec>& models) {
  for (const ModelSpec& model : models) {
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

TEST(ReferenceNetwork, GradientsAreThoseOfCentralDifferences) {
  expect_gradients_of_central_differences(small_models());
}

TEST(ReferenceNetwork, GradientsOfRescaledSubModelsAreThoseOfCentralDifferences) {
  std::set<std::string> scaled;
  for (const ModelSpec& model : small_rescaled_models()) {
    for (const LayerSpec& layer : model.layers) {
      if (layer.output_scale != 1) scaled.insert(layer.type);
    }
  }
  EXPECT_EQ(scaled, (std::set<std::string>{"conv2d", "dense", "embedding", "lstm"}));
  expect_gradients_of_central_differences(small_rescaled_models());
}

TEST(ReferenceNetwork, ARescaledStepIsTheOneByHand) {
  // One of two units is kept, so what it gives counts twice: 2 (3 x + 1) = 8 for x = 1, and both logits are
  // 0.
  const ModelSpec whole{"hand",
                        {1, 1, 1},
                        {{.type = "dense", .name = "d1", .units = 2, .droppable = true},
                         {.type = "dense", .name = "d2", .units = 2}}};
  const SubModel sub(whole, std::vector<std::vector<uint32_t>>{{1}}, true);
  const auto network = reference::make_network(sub.spec());
  std::vector<float> weights{3, 1, 1, -1, -8, 8}, logits(2);
  network->infer(weights, std::vector<float>{1}, logits);
  EXPECT_EQ(logits, (std::vector<float>{0, 0}));
  // The logits' gradient is (-1/2, 1/2), the hidden value's -1/2 - 1/2 = -1, and before the factor -2.
  network->train_step(weights, {std::vector<float>{1}, std::vector<int32_t>{0}}, 1.0f);
  EXPECT_EQ(weights, (std::vector<float>{5, 3, 5, -5, -7.5f, 7.5f}));
}

TEST(ReferenceNetwork, WhatLeavesARescaledLstmIsScaledButNotWhatItRemembers) {
  ModelSpec model{"m", {2, 5, 1}, {{.type = "lstm", .name = "l1", .units = 3}}};
  const std::vector<float> weights = random_weights(model);
  const Examples example = random_examples(model, 1, 9);
  std::vector<float> plain(15), scaled(15);
  reference::make_network(model)->infer(weights, example.inputs, plain);
  model.layers[0].output_scale = 4;
  reference::make_network(model)->infer(weights, example.inputs, scaled);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(scaled[i], 4 * plain[i]) << i;
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

TEST(ReferenceNetwork, AStrideTakesEveryNthPositionOfThePlainConvolution) {
  const auto logits_of = [](size_t stride) {
    const ModelSpec model{
        "m", {2, 7, 8}, {{.type = "conv2d", .name = "c1", .units = 3, .kernel = 5, .stride = stride}}};
    std::vector<float> logits(class_count(model));
    reference::make_network(model)->infer(random_weights(model), random_examples(model, 1, 8).inputs, logits);
    return logits;
  };
  const std::vector<float> plain = logits_of(1), strided = logits_of(3);
  ASSERT_EQ(strided.size(), 3u * 3 * 3);
  for (size_t filter = 0; filter < 3; ++filter) {
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 3; ++column) {
        EXPECT_EQ(strided[(filter * 3 + row) * 3 + column], plain[(filter * 7 + 3 * row) * 8 + 3 * column]);
      }
    }
  }
}

TEST(ReferenceNetwork, TheMeanIsOverAllPositionsOfAChannel) {
  const ModelSpec model{"m", {2, 2, 2}, {{.type = "avgpool"}}};
  std::vector<float> logits(2);
  reference::make_network(model)->infer({}, std::vector<float>{1, 2, 3, 6, -1, 0, 0, 5}, logits);
  EXPECT_EQ(logits, (std::vector<float>{3, 1}));
}

TEST(ReferenceNetwork, AnEmbeddingIsTheRowOfItsSymbol) {
  const ModelSpec model{"rows",
                        {1, 2, 1},
                        {{.type = "embedding", .name = "e1", .units = 2, .symbols = 3}, {.type = "flatten"}}};
  std::vector<float> logits(4);
  reference::make_network(model)->infer(std::vector<float>{0, 1, 10, 11, 20, 21}, std::vector<float>{2, 1},
                                        logits);
  EXPECT_EQ(logits, (std::vector<float>{20, 10, 21, 11}));  // feature by feature
}

TEST(ReferenceNetwork, AnLstmIsPyTorchsWithGatesInTheOrderIFGO) {
  // One unit and two steps; the weights of every gate are its own.
  const ModelSpec model{"gates", {1, 2, 1}, {{.type = "lstm", .name = "l1", .units = 1}}};
  const std::vector<float> weights{0.1f, 0.2f,  0.3f, 0.4f, 0.5f,  0.6f, 0.7f,  0.8f,
                                   0.9f, -1.0f, 1.1f, 1.2f, -1.3f, 1.4f, -1.5f, 1.6f};
  const std::vector<double> x{1.5, -2.0};
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  std::vector<double> expected;
  double c = 0, h = 0;
  for (const double input : x) {
    const auto z = [&](size_t gate) {
      return weights[gate] * input + weights[4 + gate] * h + weights[8 + gate] + weights[12 + gate];
    };
    const double i = sigmoid(z(0)), f = sigmoid(z(1)), g = std::tanh(z(2)), o = sigmoid(z(3));
    c = f * c + i * g;
    h = o * std::tanh(c);
    expected.push_back(h);
  }
  std::vector<float> logits(2);
  reference::make_network(model)->infer(weights, std::vector<float>{1.5f, -2.0f}, logits);
  EXPECT_NEAR(logits[0], expected[0], 1e-6);
  EXPECT_NEAR(logits[1], expected[1], 1e-6);
  ModelSpec last = model;
  last.layers[0].last_step = true;
  std::vector<float> last_logit(1);
  reference::make_network(last)->infer(weights, std::vector<float>{1.5f, -2.0f}, last_logit);
  EXPECT_EQ(last_logit[0], logits[1]);
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
