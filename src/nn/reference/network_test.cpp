#include "nn/reference/network.h"

#include <algorithm>
#include <set>

#include "nn/network_testing.h"

namespace subfleet {
namespace {

constexpr size_t kCheckedPerTensor = 60;

void expect_gradients_of_central_differences(Network& network, const ModelSpec& model) {
  const std::vector<float> weights = random_weights(model);
  const Examples batch = random_examples(model, 3, 0);
  const std::vector<double> gradient = gradient_of(network, weights, batch);
  for (const ParameterSpec& p : model_parameters(model)) {
    const size_t stride = p.size() / kCheckedPerTensor + 1;
    for (size_t i = p.offset; i < p.offset + p.size(); i += stride) {
      const auto slope = [&](float width) {
        std::vector<float> below = weights, above = weights;
        below[i] -= width;
        above[i] += width;
        return (mean_loss(network, above, batch) - mean_loss(network, below, batch)) /
               (double{above[i]} - double{below[i]});
      };
      const double numeric = (4 * slope(5e-5f) - slope(1e-4f)) / 3;  // without the error of third order
      EXPECT_NEAR(gradient[i], numeric, 1e-6) << model.name << " " << p.name << " [" << i - p.offset << "]";
    }
  }
}

TEST(ReferenceNetwork, GradientsAreThoseOfCentralDifferences) {
  for (const ModelSpec& model : small_models_and_graphs()) {
    expect_gradients_of_central_differences(*reference::make_network(model), model);
  }
}

TEST(ReferenceNetwork, GradientsOfRescaledSubModelsAreThoseOfCentralDifferences) {
  std::set<std::string> scaled, fed;
  for (const SubModel& sub : small_rescaled_submodels(small_models_and_graphs())) {
    for (const LayerSpec& layer : sub.spec().layers) {
      if (layer.output_scale != 1) scaled.insert(layer.type);
      if (layer.input_scale != 1) fed.insert(layer.type);
    }
    const auto network = reference::make_network(sub.spec());
    network->set_channel_groups(sub.channel_groups());
    expect_gradients_of_central_differences(*network, sub.spec());
  }
  EXPECT_EQ(scaled, (std::set<std::string>{"attention", "conv2d", "dense", "embedding", "gru", "lstm"}));
  EXPECT_EQ(fed, (std::set<std::string>{"attention", "conv2d", "dense", "gru"}));
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

TEST(ReferenceNetwork, GroupNormOfASubModelIsOverTheKeptChannelsOfEachOfTheWholeModelsGroups) {
  // Channels 0, 1 and 5 of six are kept: the first two are normalised together, the third alone.
  const ModelSpec whole{"m",
                        {1, 1, 2},
                        {{.type = "conv2d", .name = "c1", .units = 6, .kernel = 1, .droppable = true},
                         {.type = "groupnorm", .name = "n1", .groups = 2},
                         {.type = "flatten"},
                         {.type = "dense", .name = "d1", .units = 6, .bias = false}}};
  const SubModel sub(whole, std::vector<std::vector<uint32_t>>{{0, 1, 5}});
  EXPECT_EQ(sub.channel_groups(), (std::vector<std::vector<uint32_t>>{{2, 3}}));
  std::vector<float> weights(sub.size(), 0.0f);
  const std::vector<float> filters{1, 2, 3}, biases{0, 0, 7}, factors{1, 1, 1}, shifts{0, 0.5f, 0};
  auto next = weights.begin();
  for (const auto* tensor : {&filters, &biases, &factors, &shifts})
    next = std::ranges::copy(*tensor, next).out;
  for (size_t i = 0; i < 6; ++i) next[static_cast<ptrdiff_t>(7 * i)] = 1;  // the classes are the values
  const auto network = reference::make_network(sub.spec());
  network->set_channel_groups(sub.channel_groups());
  std::vector<float> actual(6);
  network->infer(weights, std::vector<float>{1, -2}, actual);
  // Values 1, -2, 2, -4 of mean -3/4 and variance 25/4 - 9/16, and 10, 1 of mean 11/2 and variance 81/4.
  const double first = 1 / std::sqrt(5.6875 + 1e-5), second = 1 / std::sqrt(20.25 + 1e-5);
  const std::vector<double> expected{1.75 * first,        -1.25 * first, 2.75 * first + 0.5,
                                     -3.25 * first + 0.5, 4.5 * second,  -4.5 * second};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << i;
}

TEST(ReferenceNetwork, TheLossOfASequenceIsTheMeanOverItsStepsAndTheLabelIsTheLastOnes) {
  // Every step's logits are those of the symbol that it reads: the row of the embedding.
  const ModelSpec model{"next", {1, 2, 1}, {{.type = "embedding", .name = "e1", .units = 3, .symbols = 3}}};
  std::vector<float> weights{1, 0, 0, 0, 2, 0, 0, 0, 3};
  const auto network = reference::make_network(model);
  // Symbols 0, 1, then 1: at the first step, 1 follows 0; at the second, 1 follows 1.
  const Score score = network->train_step(weights, {std::vector<float>{0, 1}, std::vector<int32_t>{1}}, 0.0f);
  const double e = std::exp(1.0);
  EXPECT_NEAR(score.loss, (std::log(e + 2) + std::log(e * e + 2) - 2) / 2, 1e-6);
  EXPECT_EQ(score.correct, 1u);
  std::vector<float> logits(3);
  network->infer(weights, std::vector<float>{0, 1}, logits);
  EXPECT_EQ(logits, (std::vector<float>{0, 2, 0}));
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
