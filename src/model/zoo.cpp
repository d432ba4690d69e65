#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/vocabulary.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet {
namespace {

constexpr Shape kImage28{1, 28, 28};
constexpr size_t kEmnistClasses = 62;

// The paper's network for EMNIST62: 6,603,710 parameters; 1,696,670 with half of conv2 and dense1.
ModelSpec emnist_cnn() {
  return {"emnist-cnn",
          kImage28,
          {{.type = "conv2d", .name = "conv1", .units = 32, .kernel = 5},
           {.type = "relu"},
           {.type = "maxpool", .kernel = 2},
           {.type = "conv2d", .name = "conv2", .units = 64, .kernel = 5, .droppable = true},
           {.type = "relu"},
           {.type = "maxpool", .kernel = 2},
           {.type = "flatten"},
           {.type = "dense", .name = "dense1", .units = 2048, .droppable = true},
           {.type = "relu"},
           {.type = "dense", .name = "dense2", .units = kEmnistClasses}}};
}

// A small one for quick experiments and tests.
ModelSpec emnist_mlp() {
  return {"emnist-mlp",
          kImage28,
          {{.type = "flatten"},
           {.type = "dense", .name = "dense1", .units = 128},
           {.type = "relu"},
           {.type = "dense", .name = "dense2", .units = 128, .droppable = true},
           {.type = "relu"},
           {.type = "dense", .name = "dense3", .units = kEmnistClasses}}};
}

// A linear softmax: how hard a data set is without hidden layers. Nothing can be dropped.
ModelSpec emnist_linear() {
  return {"emnist-linear",
          kImage28,
          {{.type = "flatten"}, {.type = "dense", .name = "dense1", .units = kEmnistClasses}}};
}

// All-CNN-C of Springenberg et al., "Striving for Simplicity: The All Convolutional Net" (2015): strides
// instead of pooling, and the mean over all positions at the end. Different from the paper: every 3x3
// convolution is padded, so 8x8 positions are left, not 6x6; no ReLU after the last convolution, because a
// class that it silences at every position learns no more; and no dropout regularisation.
ModelSpec all_convolutional(std::string name, size_t classes) {
  struct Convolution {
    size_t units, kernel, stride;
  };
  constexpr std::array<Convolution, 8> kHidden{
      {{96, 3, 1}, {96, 3, 1}, {96, 3, 2}, {192, 3, 1}, {192, 3, 1}, {192, 3, 2}, {192, 3, 1}, {192, 1, 1}}};
  ModelSpec model{std::move(name), {3, 32, 32}, {}};
  for (size_t i = 0; i < kHidden.size(); ++i) {
    model.layers.push_back({.type = "conv2d",
                            .name = "conv" + std::to_string(i + 1),
                            .units = kHidden[i].units,
                            .kernel = kHidden[i].kernel,
                            .stride = kHidden[i].stride,
                            .droppable = i > 0,
                            .initial = Initial::kHe});
    model.layers.push_back({.type = "relu"});
  }
  model.layers.push_back(
      {.type = "conv2d", .name = "conv9", .units = classes, .kernel = 1, .initial = Initial::kHe});
  model.layers.push_back({.type = "avgpool"});
  return model;
}

ModelSpec allcnn_c() { return all_convolutional("allcnn-c", 10); }         // CIFAR-10: 1,369,738 parameters
ModelSpec allcnn_c100() { return all_convolutional("allcnn-c100", 100); }  // CIFAR-100

// The next character from the 80 before it, as in LEAF (Caldas et al., 2018): 820,185
// parameters; 213,849 with half of both LSTM layers.
ModelSpec char_lstm() {
  return {"char-lstm",
          {1, 80, 1},
          {{.type = "embedding", .name = "embedding", .units = 8, .symbols = kSymbols},
           {.type = "lstm", .name = "lstm1", .units = 256, .droppable = true},
           {.type = "lstm", .name = "lstm2", .units = 256, .last_step = true, .droppable = true},
           {.type = "dense", .name = "dense", .units = kSymbols}},
          std::string(kVocabulary)};
}

// Lists layers that read what is above them by name.
class Graph {
 public:
  Graph(std::string name, Shape input) : model_{std::move(name), input, {}} {}

  // What the last layer makes.
  uint32_t last() const { return static_cast<uint32_t>(model_.layers.size()); }

  // Adds a layer, which reads the last value or those named; gives its value.
  uint32_t add(LayerSpec layer, std::vector<uint32_t> inputs = {}) {
    if (inputs != std::vector{last()}) layer.inputs = std::move(inputs);
    model_.layers.push_back(std::move(layer));
    return last();
  }

  // A convolution without biases, and a normalisation behind it; its name is the convolution's with "norm"
  // for "conv".
  uint32_t add_normalised(LayerSpec convolution, std::string norm, std::vector<uint32_t> inputs = {}) {
    convolution.type = "conv2d";
    convolution.initial = Initial::kHe;
    convolution.bias = false;
    add(std::move(convolution), std::move(inputs));
    return add({.type = "groupnorm", .name = std::move(norm), .groups = kNormGroups});
  }

  ModelSpec done(std::string_view vocabulary = {}) {
    model_.vocabulary = vocabulary;
    return std::move(model_);
  }

 private:
  static constexpr size_t kNormGroups = 2;

  ModelSpec model_;
};

// ResNet-18 (He et al. 2016) as it is used for pictures of 32x32: a first convolution of 3x3 and no pooling
// after it. Two groups for GroupNorm instead of BatchNorm, as in Hsieh et al., "The Non-IID Data Quagmire"
// (2020). The first convolution of each block is droppable.
ModelSpec resnet18() {
  constexpr std::array<size_t, 4> kStages{64, 128, 256, 512};
  constexpr size_t kBlocks = 2;
  Graph graph("resnet18", {3, 32, 32});
  graph.add_normalised({.name = "conv1", .units = kStages.front(), .kernel = 3}, "norm1");
  graph.add({.type = "relu", .name = "stem"});
  for (size_t stage = 0; stage < kStages.size(); ++stage) {
    for (size_t i = 0; i < kBlocks; ++i) {
      const std::string block = "block" + std::to_string(stage * kBlocks + i + 1);
      const bool changes = stage > 0 && i == 0;
      const size_t units = kStages[stage], stride = changes ? 2 : 1;
      const uint32_t before = graph.last();
      graph.add_normalised(
          {.name = block + "_conv1", .units = units, .kernel = 3, .stride = stride, .droppable = true},
          block + "_norm1");
      graph.add({.type = "relu"});
      const uint32_t branch =
          graph.add_normalised({.name = block + "_conv2", .units = units, .kernel = 3}, block + "_norm2");
      uint32_t shortcut = before;
      if (changes) {
        shortcut =
            graph.add_normalised({.name = block + "_conv3", .units = units, .kernel = 1, .stride = stride},
                                 block + "_norm3", {before});
      }
      graph.add({.type = "add"}, {shortcut, branch});
      graph.add({.type = "relu", .name = block});
    }
  }
  graph.add({.type = "avgpool"});
  graph.add({.type = "dense", .name = "dense", .units = 10});
  return graph.done();
}

// MobileNetV2 (Sandler et al. 2018) as it is used for pictures of 32x32, where the first strides are 1; ReLU
// for ReLU6 and GroupNorm for BatchNorm. The expanded channels, which the depthwise convolutions read, are
// droppable.
ModelSpec mobilenet_v2() {
  struct Stage {
    size_t expansion, units, blocks, stride;
  };
  constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                          {6, 24, 2, 1},
                                          {6, 32, 3, 2},
                                          {6, 64, 4, 2},
                                          {6, 96, 3, 1},
                                          {6, 160, 3, 2},
                                          {6, 320, 1, 1}}};
  Graph graph("mobilenet-v2", {3, 32, 32});
  size_t channels = 32, number = 0;
  graph.add_normalised({.name = "conv1", .units = channels, .kernel = 3}, "norm1");
  graph.add({.type = "relu"});
  for (const Stage& stage : kStages) {
    for (size_t i = 0; i < stage.blocks; ++i) {
      const std::string block = "block" + std::to_string(++number);
      const size_t stride = i == 0 ? stage.stride : 1, expanded = channels * stage.expansion;
      const uint32_t before = graph.last();
      if (stage.expansion > 1) {
        graph.add_normalised({.name = block + "_conv1", .units = expanded, .kernel = 1, .droppable = true},
                             block + "_norm1");
        graph.add({.type = "relu"});
      }
      graph.add_normalised(
          {.name = block + "_conv2", .units = expanded, .kernel = 3, .stride = stride, .groups = expanded},
          block + "_norm2");
      graph.add({.type = "relu"});
      const bool residual = stride == 1 && channels == stage.units;
      channels = stage.units;
      const uint32_t branch =
          graph.add_normalised({.name = block + "_conv3", .units = channels, .kernel = 1}, block + "_norm3");
      if (residual) graph.add({.type = "add", .name = block}, {before, branch});
    }
  }
  graph.add_normalised({.name = "conv2", .units = 1280, .kernel = 1, .droppable = true}, "norm2");
  graph.add({.type = "relu"});
  graph.add({.type = "avgpool"});
  graph.add({.type = "dense", .name = "dense", .units = 10});
  return graph.done();
}

// A decoder of four blocks with normalisation first, which learns the next character at every one of 80
// steps. Heads and the hidden units of each block are droppable.
ModelSpec char_transformer() {
  constexpr size_t kSteps = 80, kWidth = 128, kHeads = 4, kBlocks = 4;
  Graph graph("char-transformer", {1, kSteps, 1});
  graph.add({.type = "embedding", .name = "embedding", .units = kWidth, .symbols = kSymbols});
  graph.add({.type = "position", .name = "position"});
  for (size_t i = 1; i <= kBlocks; ++i) {
    const std::string block = "block" + std::to_string(i);
    uint32_t stream = graph.last();
    graph.add({.type = "layernorm", .name = block + "_norm1"});
    graph.add({.type = "attention",
               .name = block + "_attention",
               .units = kHeads,
               .droppable = true,
               .head_units = kWidth / kHeads,
               .causal = true});
    uint32_t branch = graph.add({.type = "dense", .name = block + "_dense1", .units = kWidth});
    stream = graph.add({.type = "add", .name = block + "_middle"}, {stream, branch});
    graph.add({.type = "layernorm", .name = block + "_norm2"});
    graph.add({.type = "dense", .name = block + "_dense2", .units = 4 * kWidth, .droppable = true});
    graph.add({.type = "gelu"});
    branch = graph.add({.type = "dense", .name = block + "_dense3", .units = kWidth});
    graph.add({.type = "add", .name = block}, {stream, branch});
  }
  graph.add({.type = "layernorm", .name = "norm"});
  graph.add({.type = "dense", .name = "dense", .units = kSymbols});
  return graph.done(kVocabulary);
}

constexpr std::array kZoo{emnist_cnn, emnist_mlp, emnist_linear, allcnn_c,        allcnn_c100,
                          char_lstm,  resnet18,   mobilenet_v2,  char_transformer};

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto make : kZoo) names.push_back(make().name);
  return names;
}

ModelSpec find_model(std::string_view name) {
  for (const auto make : kZoo) {
    ModelSpec model = make();
    if (model.name == name) return model;
  }
  throw unknown_name("model.name", name, model_names());
}

}  // namespace subfleet
