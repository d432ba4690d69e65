#include <array>

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

constexpr std::array kZoo{emnist_cnn, emnist_mlp, emnist_linear};

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
