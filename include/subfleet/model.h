#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The shape of one example between two layers, in C,H,W order. A flat vector of n is {n, 1, 1}; a sequence of
// t steps of n features is {n, t, 1}.
struct Shape {
  size_t channels = 0;
  size_t height = 1;
  size_t width = 1;
  size_t size() const { return channels * height * width; }
  bool operator==(const Shape&) const = default;
};

// One layer as data. What its type does with the fields is in src/model/layers.cpp (shapes, parameters) and
// in the trainers (arithmetic).
struct LayerSpec {
  std::string type = {};   // "conv2d", "maxpool", "avgpool", "dense", "relu", "flatten", "embedding",
                           // "lstm"
  std::string name = {};   // prefix of the parameters' names; empty for layers without parameters
  size_t units = 0;        // filters or units; 0 for layers without parameters
  size_t kernel = 0;       // conv2d: square kernel, padding kernel / 2; maxpool: square window and stride
  size_t stride = 1;       // conv2d: in both directions
  size_t symbols = 0;      // embedding: how many different inputs there are
  bool last_step = false;  // lstm: only the last step's output leaves
  bool droppable = false;  // whether clients may hold only some of the units
  bool operator==(const LayerSpec&) const = default;
  bool he = false;  // conv2d: starts He-uniform (He et al. 2015), not Glorot: for deep chains of ReLU
};

// What an axis of a parameter follows when units are dropped.
enum class Follows {
  kNothing,  // always whole
  kUnits,    // the kept units of its own layer
  kInputs,   // the kept features that come in
};

// One tensor of a model, seen as rows x columns x inner (inner is never dropped).
struct ParameterSpec {
  std::string name = {};           // PyTorch's: "conv1.weight"
  std::vector<size_t> shape = {};  // PyTorch's: [out, in, kh, kw] or [out, in] or [out]
  size_t rows = 0, columns = 1, inner = 1;
  Follows rows_follow = Follows::kUnits;
  Follows columns_follow = Follows::kNothing;
  size_t row_groups = 1;  // rows = row_groups * units: the same units in every group (the gates of an LSTM)
  size_t fan_in = 0, fan_out = 0;  // for Glorot-uniform; fan_out 0: He-uniform; both 0: starts at zero
  size_t offset = 0;               // of its first value in the model's flat weights
  size_t size() const { return rows * columns * inner; }
};

// A chain of layers that ends in `classes` logits; the loss is softmax cross-entropy.
struct ModelSpec {
  std::string name;
  Shape input;
  std::vector<LayerSpec> layers;
  bool operator==(const ModelSpec&) const = default;
  std::string vocabulary = {};  // text: the character of each symbol; one symbol more is all others
};

// The shape that enters each layer, and after them the shape of the output. Throws Error where a layer does
// not fit.
std::vector<Shape> layer_shapes(const ModelSpec& model);

// Every tensor, in order, with its offset in the flat weights.
std::vector<ParameterSpec> model_parameters(const ModelSpec& model);

size_t parameter_count(const ModelSpec& model);
size_t class_count(const ModelSpec& model);

// Indices into model.layers of the droppable layers.
std::vector<size_t> droppable_layers(const ModelSpec& model);

// Which network: one of the zoo, or that of a file.
struct ModelOptions {
  std::string name = "emnist-cnn";
  std::filesystem::path file = {};
};
ModelSpec resolve_model(const ModelOptions& options);

// The model zoo; throws Error naming the nearest.
ModelSpec find_model(std::string_view name);
std::vector<std::string> model_names();

// Glorot-uniform or He-uniform weights and zero biases, a pure function of the seed.
std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed);

}  // namespace subfleet
