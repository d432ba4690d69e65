#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nn/network.h"
#include "subfleet/examples.h"
#include "subfleet/random.h"
#include "subfleet/submodel.h"

namespace subfleet {

// Models small enough for numeric gradients. Together they have every type of layer in every position.
inline std::vector<ModelSpec> small_models() {
  return {
      {"linear", {6, 1, 1}, {{.type = "dense", .name = "d1", .units = 4}}},
      {"mlp",
       {2, 3, 2},
       {{.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 9},
        {.type = "relu"},
        {.type = "dense", .name = "d2", .units = 5}}},
      {"conv",
       {2, 5, 6},
       {{.type = "conv2d", .name = "c1", .units = 3, .kernel = 3},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 4}}},
      {"cnn",
       {1, 8, 8},
       {{.type = "conv2d", .name = "c1", .units = 4, .kernel = 5},
        {.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "conv2d", .name = "c2", .units = 5, .kernel = 3},
        {.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 7},
        {.type = "relu"},
        {.type = "dense", .name = "d2", .units = 3}}},
      {"grey, odd sizes",
       {1, 7, 11},
       {{.type = "conv2d", .name = "c1", .units = 19, .kernel = 3},
        {.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"grey, pooled twice",
       {1, 12, 9},
       {{.type = "conv2d", .name = "c1", .units = 4, .kernel = 3},
        {.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"odd sizes, more channels than a vector register",
       {3, 7, 5},
       {{.type = "conv2d", .name = "c1", .units = 20, .kernel = 3},
        {.type = "maxpool", .kernel = 2},
        {.type = "relu"},
        {.type = "conv2d", .name = "c2", .units = 17, .kernel = 1},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"starts without weights",
       {2, 6, 6},
       {{.type = "relu"},
        {.type = "maxpool", .kernel = 2},
        {.type = "conv2d", .name = "c1", .units = 6, .kernel = 3},
        {.type = "maxpool", .kernel = 3},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"ends in a convolution",
       {1, 3, 3},
       {{.type = "conv2d", .name = "c1", .units = 5, .kernel = 3},
        {.type = "conv2d", .name = "c2", .units = 2, .kernel = 3}}},
      {"strides and a mean at the end",
       {3, 9, 8},
       {{.type = "conv2d", .name = "c1", .units = 20, .kernel = 3},
        {.type = "conv2d", .name = "c2", .units = 18, .kernel = 3, .stride = 2},
        {.type = "conv2d", .name = "c3", .units = 4, .kernel = 1},
        {.type = "avgpool"}}},
      {"starts with a stride, a mean before dense",
       {2, 7, 10},
       {{.type = "conv2d", .name = "c1", .units = 5, .kernel = 5, .stride = 3},
        {.type = "relu"},
        {.type = "conv2d", .name = "c2", .units = 6, .kernel = 1, .stride = 2},
        {.type = "avgpool"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"starts with a mean", {3, 4, 5}, {{.type = "avgpool"}, {.type = "dense", .name = "d1", .units = 3}}},
      {"characters",
       {1, 7, 1},
       {{.type = "embedding", .name = "e1", .units = 3, .symbols = 5},
        {.type = "lstm", .name = "l1", .units = 6},
        {.type = "lstm", .name = "l2", .units = 5, .last_step = true},
        {.type = "dense", .name = "d1", .units = 5}}},
      {"starts with a sequence, changes it in place",
       {3, 5, 1},
       {{.type = "lstm", .name = "l1", .units = 18},
        {.type = "relu"},
        {.type = "lstm", .name = "l2", .units = 2},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"ends in an LSTM", {4, 2, 1}, {{.type = "lstm", .name = "l1", .units = 3, .last_step = true}}},
  };
}

// Every small model with about two thirds of the units of all layers but the last, rescaled. The factors are
// not powers of two, and together the models have every type of layer that can drop units.
inline std::vector<ModelSpec> small_rescaled_models() {
  std::vector<ModelSpec> rescaled;
  for (ModelSpec model : small_models()) {
    std::vector<std::vector<uint32_t>> kept;
    const auto with_units = static_cast<size_t>(
        std::ranges::count_if(model.layers, [](const LayerSpec& layer) { return layer.units > 0; }));
    for (LayerSpec& layer : model.layers) {
      if (layer.units == 0 || kept.size() + 1 == with_units) continue;
      layer.droppable = true;
      std::vector<uint32_t>& own = kept.emplace_back();
      for (uint32_t unit = 0; unit < layer.units; ++unit) {
        if (unit % 3 != 1) own.push_back(unit);
      }
    }
    if (!kept.empty()) rescaled.push_back(SubModel(model, kept, true).spec());
  }
  return rescaled;
}

inline Examples random_examples(const ModelSpec& model, size_t count, uint32_t stream) {
  Random random({.seed = 11, .client = stream});
  Examples examples{.features = model.input.size(), .inputs = {}, .labels = {}};
  std::vector<float> input(examples.features);
  const size_t symbols = model.layers.front().symbols;
  for (size_t i = 0; i < count; ++i) {
    for (float& value : input) {
      value = symbols > 0 ? static_cast<float>(random.below(static_cast<uint32_t>(symbols)))
                          : static_cast<float>(random.uniform(-1, 1));
    }
    examples.append(input, static_cast<int32_t>(random.below(static_cast<uint32_t>(class_count(model)))));
  }
  return examples;
}

// Random weights; unlike initial ones, their biases are not zero.
inline std::vector<float> random_weights(const ModelSpec& model) {
  std::vector<float> weights = initial_weights(model, 5);
  Random random({.seed = 12});
  for (float& weight : weights) weight += static_cast<float>(random.uniform(-0.05, 0.05));
  return weights;
}

// The gradient of the mean loss, from a step of learning rate 1.
inline std::vector<double> gradient_of(Network& network, const std::vector<float>& weights,
                                       const Examples& batch) {
  std::vector<float> stepped = weights;
  network.train_step(stepped, {batch.inputs, batch.labels}, 1.0f);
  std::vector<double> gradient(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) gradient[i] = double{weights[i]} - double{stepped[i]};
  return gradient;
}

inline double mean_loss(Network& network, std::vector<float> weights, const Examples& batch) {
  return network.train_step(weights, {batch.inputs, batch.labels}, 0.0f).loss /
         static_cast<double>(batch.count());
}

// Every value of `actual` is within `tolerance` of `expected`, relative to its tensor's largest value, or
// within one rounding of a weight below 1.
inline void expect_close_tensors(const ModelSpec& model, const std::vector<double>& actual,
                                 const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const ParameterSpec& p : model_parameters(model)) {
    double largest = 0, error = 0;
    for (size_t i = p.offset; i < p.offset + p.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      error = std::max(error, std::abs(actual[i] - expected[i]));
    }
    EXPECT_GT(largest, 0) << model.name << " " << p.name << ": nothing to compare";
    EXPECT_LE(error, tolerance * largest + 0x1p-24) << model.name << " " << p.name;
  }
}

// A 1x1 filter of weight 0 makes all values of a channel equal, so every pooling window is a tie. As in
// PyTorch, the first value of a window, in row order, must get the gradient. The fifth row and column are in
// no window.
inline void expect_first_maximum_learns(const NetworkFactory& make_network) {
  const ModelSpec model{"ties",
                        {1, 5, 5},
                        {{.type = "conv2d", .name = "c1", .units = 1, .kernel = 1},
                         {.type = "maxpool", .kernel = 2},
                         {.type = "flatten"},
                         {.type = "dense", .name = "d1", .units = 2}}};
  // The filter and its bias, then two rows of dense weights over the four windows, then their biases. The
  // logits are equal.
  const std::vector<float> weights{0, 0.5f, 1, 2, 3, 4, 4, 3, 2, 1, 0, 0};
  Examples batch{.features = 25, .inputs = {}, .labels = {}};
  std::vector<float> input(25);
  for (size_t i = 0; i < 25; ++i) input[i] = static_cast<float>(i * i) / 64;
  batch.append(input, 0);

  // Probabilities 1/2: the logits' gradient is (-1/2, 1/2), a window's half the difference of its two
  // weights.
  double expected = 0, all_windows = 0;
  const std::vector<size_t> first_of_window{0, 2, 10, 12};
  for (size_t w = 0; w < 4; ++w) {
    const double window_gradient = 0.5 * (double{weights[6 + w]} - double{weights[2 + w]});
    expected += window_gradient * double{input[first_of_window[w]]};
    all_windows += window_gradient;
  }
  const std::vector<double> gradient = gradient_of(*make_network(model), weights, batch);
  EXPECT_NEAR(gradient[0], expected, 1e-5);
  EXPECT_NEAR(gradient[1], all_windows, 1e-5);
}

}  // namespace subfleet
