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

// How a layer's weights begin.
enum class Initial {
  kGlorot,  // uniform, by inputs and outputs (Glorot and Bengio 2010)
  kHe,      // uniform, by inputs (He et al. 2015): for deep chains of ReLU
};

// One layer as data. Which fields its type uses and what it does with them is in src/model, one file per type
// (shapes, parameters), and in the trainers (arithmetic).
struct LayerSpec {
  std::string type = {};   // "conv2d", "dense", "relu", ...: a file of src/model
  std::string name = {};   // prefix of the parameters' names; empty for layers without parameters
  size_t units = 0;        // filters or units; 0 for layers without parameters
  size_t kernel = 0;       // conv2d: square kernel, padding kernel / 2; maxpool: square window and stride
  size_t stride = 1;       // conv2d: in both directions
  size_t symbols = 0;      // embedding: how many different inputs there are
  bool last_step = false;  // lstm: only the last step's output leaves
  bool droppable = false;  // whether clients may hold only some of the units
  Initial initial = Initial::kGlorot;  // conv2d, dense
  float output_scale = 1;  // what leaves is multiplied by it; other than 1 only in rescaled sub-models
  bool operator==(const LayerSpec&) const = default;
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
  std::string vocabulary = {};  // text: the character of each symbol; one symbol more is all others
  bool operator==(const ModelSpec&) const = default;
};

// Throws Error, in one line that names the layer and says what would be right, for a model that cannot be
// trained with sub-models. Those of the zoo and of files have passed.
void check_model(const ModelSpec& model);

// The shape that enters each layer, and after them the shape of the output. Throws Error where a layer does
// not fit.
std::vector<Shape> layer_shapes(const ModelSpec& model);

// Every tensor, in order, with its offset in the flat weights.
std::vector<ParameterSpec> model_parameters(const ModelSpec& model);

size_t parameter_count(const ModelSpec& model);
size_t class_count(const ModelSpec& model);

// Indices into model.layers of the droppable layers.
std::vector<size_t> droppable_layers(const ModelSpec& model);

// The model zoo; throws Error naming the nearest.
ModelSpec find_model(std::string_view name);
std::vector<std::string> model_names();

// A model file is a TOML text that lists layers; docs/models.md describes it. `source` names it in errors,
// and names the model if the text does not.
ModelSpec parse_model(std::string_view text, std::string_view source);
ModelSpec load_model_file(const std::filesystem::path& path);

// The model as a model file: the same text for equal models, and parse_model() makes an equal model of it.
std::string model_toml(const ModelSpec& model);

// Which model a run trains.
struct ModelOptions {
  std::string name = "emnist-cnn";  // of the zoo
  std::filesystem::path file = {};  // a model file instead
  bool operator==(const ModelOptions&) const = default;
};
// Throws Error if there is no such model, it cannot work, or both a name and a file are chosen.
ModelSpec resolve_model(const ModelOptions& options);

// Glorot-uniform or He-uniform weights and zero biases, a pure function of the seed.
std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed);

}  // namespace subfleet
