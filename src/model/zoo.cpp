#include <array>
#include <string>
#include <utility>

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

constexpr std::array kZoo{emnist_cnn, emnist_mlp, emnist_linear, allcnn_c, allcnn_c100, char_lstm};

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
