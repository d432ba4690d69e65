#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

// The same for layers that read several values or a value together, and those that only stand in such models.
inline std::vector<ModelSpec> small_graphs() {
  return {
      {"residual",
       {2, 6, 5},
       {{.type = "conv2d", .name = "c1", .units = 6, .kernel = 3, .bias = false},
        {.type = "groupnorm", .name = "n1", .groups = 2},
        {.type = "relu", .name = "stem"},
        {.type = "conv2d", .name = "c2", .units = 18, .kernel = 3, .stride = 2, .bias = false},
        {.type = "groupnorm", .name = "n2", .groups = 3},
        {.type = "relu"},
        {.type = "conv2d", .name = "c3", .units = 9, .kernel = 3},
        {.type = "scale", .name = "s1"},
        {.type = "conv2d", .name = "shortcut", .units = 9, .kernel = 1, .stride = 2, .inputs = {3}},
        {.type = "add", .inputs = {8, 9}},
        {.type = "relu"},
        {.type = "avgpool"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"depthwise",
       {3, 7, 6},
       {{.type = "conv2d", .name = "c1", .units = 18, .kernel = 1, .bias = false},
        {.type = "silu"},
        {.type = "conv2d", .name = "c2", .units = 36, .kernel = 3, .stride = 2, .groups = 18},
        {.type = "groupnorm", .name = "n1", .groups = 4},
        {.type = "tanh"},
        {.type = "conv2d", .name = "c3", .units = 18, .kernel = 1},
        {.type = "conv2d",
         .name = "c4",
         .units = 18,
         .kernel = 5,
         .inputs = {6},
         .groups = 18,
         .bias = false},
        {.type = "add", .inputs = {6, 7}},
        {.type = "conv2d", .name = "c5", .units = 5, .kernel = 2, .padding = 0},
        {.type = "avgpool"},
        {.type = "dense", .name = "d1", .units = 4, .bias = false}}},
      {"windows that overlap",
       {2, 9, 8},
       {{.type = "conv2d", .name = "c1", .units = 4, .kernel = 4, .stride = 1, .padding = 2},
        {.type = "sigmoid"},
        {.type = "maxpool", .kernel = 3, .padding = 1, .pool_stride = 2},
        {.type = "gelu"},
        {.type = "avgpool", .kernel = 3, .padding = 1, .pool_stride = 1},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"a pool and others read a ReLU",
       {2, 6, 6},
       {{.type = "conv2d", .name = "c1", .units = 5, .kernel = 3},
        {.type = "relu", .name = "r1"},
        {.type = "maxpool", .name = "p1", .kernel = 2},
        {.type = "maxpool", .name = "p2", .kernel = 2, .inputs = {2}},
        {.type = "avgpool", .name = "p3", .kernel = 2, .inputs = {2}},
        {.type = "add", .inputs = {3, 4, 5}},
        {.type = "flatten"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"transformer",
       {1, 6, 1},
       {{.type = "embedding", .name = "e1", .units = 6, .symbols = 5},
        {.type = "position", .name = "p1"},
        {.type = "layernorm", .name = "n1"},
        {.type = "attention", .name = "a1", .units = 3, .head_units = 4, .causal = true},
        {.type = "dense", .name = "d1", .units = 6},
        {.type = "add", .name = "b1", .inputs = {2, 5}},
        {.type = "layernorm", .name = "n2"},
        {.type = "dense", .name = "d2", .units = 19},
        {.type = "gelu"},
        {.type = "dense", .name = "d3", .units = 6},
        {.type = "add", .inputs = {6, 10}},
        {.type = "dense", .name = "d4", .units = 5}}},
      {"attention to all steps, one label",
       {4, 5, 1},
       {{.type = "attention", .name = "a1", .units = 2, .head_units = 3},
        {.type = "position", .name = "p1"},
        {.type = "layernorm", .name = "n1"},
        {.type = "gru", .name = "g1", .units = 5},
        {.type = "gru", .name = "g2", .units = 4, .last_step = true},
        {.type = "layernorm", .name = "n2"},
        {.type = "dense", .name = "d1", .units = 3}}},
      {"a sum with the input",
       {4, 1, 1},
       {{.type = "dense", .name = "d1", .units = 7},
        {.type = "tanh"},
        {.type = "dense", .name = "d2", .units = 4},
        {.type = "add", .inputs = {0, 3}},
        {.type = "dense", .name = "d3", .units = 3}}},
  };
}

inline std::vector<ModelSpec> small_models_and_graphs() {
  std::vector<ModelSpec> models = small_models();
  std::ranges::copy(small_graphs(), std::back_inserter(models));
  return models;
}

// A sub-model of every model, rescaled, with about two thirds of all units but the classes. The factors are
// not powers of two, and together the models have every type of layer that can drop units.
inline std::vector<SubModel> small_rescaled_submodels(const std::vector<ModelSpec>& models) {
  std::vector<SubModel> rescaled;
  for (ModelSpec model : models) {
    std::vector<UnitGroup> groups = unit_groups(model);
    groups.pop_back();
    std::vector<std::vector<uint32_t>> kept;
    for (const UnitGroup& group : groups) {
      for (const size_t layer : group.layers) model.layers[layer].droppable = true;
      std::vector<uint32_t>& own = kept.emplace_back();
      for (uint32_t unit = 0; unit < group.units; ++unit) {
        if (unit % 3 != 1) own.push_back(unit);
      }
    }
    if (!kept.empty()) rescaled.emplace_back(model, kept, true);
  }
  return rescaled;
}

inline std::vector<ModelSpec> small_rescaled_models() {
  std::vector<ModelSpec> models;
  for (const SubModel& submodel : small_rescaled_submodels(small_models())) models.push_back(submodel.spec());
  return models;
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
