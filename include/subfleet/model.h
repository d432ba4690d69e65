#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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
  kZero,    // a residual branch that begins as nothing
};

// One layer as data. Which fields its type uses and what it does with them is in src/model, one file per type
// (shapes, parameters), and in the trainers (arithmetic).
struct LayerSpec {
  std::string type = {};   // "conv2d", "dense", "relu", ...: a file of src/model
  std::string name = {};   // prefix of the parameters' names; otherwise only where another layer reads it
  size_t units = 0;        // filters, units or heads; 0 for layers that make no units of their own
  size_t kernel = 0;       // conv2d, pools: the side of the square window; avgpool: 0 is all positions
  size_t stride = 1;       // conv2d: in both directions
  size_t symbols = 0;      // embedding: how many different inputs there are
  bool last_step = false;  // lstm, gru: only the last step's output leaves
  bool droppable = false;  // whether clients may hold only some of the units
  Initial initial = Initial::kGlorot;  // conv2d, dense, attention
  float output_scale = 1;  // what leaves is multiplied by it; other than 1 only in rescaled sub-models
  float input_scale = 1;   // the same of what enters
  std::vector<uint32_t> inputs = {};       // the values it reads (layer_inputs()); empty: the one before it
  std::optional<size_t> padding = {};      // conv2d: default kernel / 2; pools: default 0
  std::optional<size_t> pool_stride = {};  // pools: default kernel
  size_t groups = 1;                       // groupnorm: of channels; conv2d: 1, or depthwise: one per channel
  size_t head_units = 0;                   // attention: features of a head
  bool causal = false;                     // attention: no step looks at a later one
  bool bias = true;                        // conv2d, dense
  bool operator==(const LayerSpec&) const = default;
};

// What an axis of a parameter follows when units are dropped.
enum class Follows {
  kNothing,  // always whole
  kOutputs,  // the kept features that leave
  kInputs,   // the kept features that come in
};

// One tensor of a model, seen as rows x columns x inner (inner is never dropped).
struct ParameterSpec {
  std::string name = {};           // PyTorch's: "conv1.weight"
  std::vector<size_t> shape = {};  // PyTorch's: [out, in, kh, kw] or [out, in] or [out]
  size_t rows = 0, columns = 1, inner = 1;
  Follows rows_follow = Follows::kOutputs;
  Follows columns_follow = Follows::kNothing;
  size_t row_groups =
      1;  // rows = row_groups * features: the same features in every group (the gates of an LSTM)
  size_t fan_in = 0, fan_out = 0;  // for Glorot-uniform; fan_out 0: He-uniform; both 0: starts at `start`
  float start = 0;
  bool statistic = false;  // TensorModel::Tensor::statistic
  size_t offset = 0;       // of its first value in the model's flat weights
  size_t size() const { return rows * columns * inner; }
};

// A stretch of a tensor's axis: so many times the units of a group, each so many neighbours wide. Without a
// group, `inner` neighbours that are always there.
struct AxisPart {
  std::string group = {};
  size_t outer = 1, inner = 1;
  bool operator==(const AxisPart&) const = default;
};

// What is known of a network whose arithmetic is its owner's, as of a PyTorch module: its units and its
// tensors, which is all that codes, sums, messages and files need.
struct TensorModel {
  struct Group {
    std::string name;
    size_t units = 0;
    bool droppable = false;
    bool operator==(const Group&) const = default;
  };
  // Its first axes, up to as many as `rows` fill, are seen as one, the next ones, up to as many as `columns`
  // fill, as another.
  struct Tensor {
    std::string name = {};
    std::vector<size_t> shape = {};
    std::vector<AxisPart> rows = {}, columns = {};
    // Averaged over its holders and never stepped, as the running statistics of a batch normalisation. All
    // of them come last, and a ProgramFleet sends them as they are.
    bool statistic = false;
    bool operator==(const Tensor&) const = default;
  };
  size_t outputs = 0;  // of one example: classes, or values of a regression
  std::vector<Group> groups = {};
  std::vector<Tensor> tensors = {};
  bool operator==(const TensorModel&) const = default;
};

// A graph of layers that ends in `classes` logits, for one example or for every step of a sequence; the loss
// is softmax cross-entropy. Layers are listed so that each reads only what is made before it. Value 0 is the
// model's input, value i + 1 what layer i makes, and the last value is the output.
struct ModelSpec {
  std::string name;
  Shape input;
  std::vector<LayerSpec> layers;
  std::string vocabulary = {};  // text: the character of each symbol; one symbol more is all others
  std::optional<TensorModel> tensors = {};  // instead of layers; only its owner can train it
  bool operator==(const ModelSpec&) const = default;
};

// Throws Error, in one line that names the layer and says what would be right, for a model that cannot be
// trained with sub-models. Those of the zoo and of files have passed.
void check_model(const ModelSpec& model);

// The values that layer i reads.
std::vector<uint32_t> layer_inputs(const ModelSpec& model, size_t i);

// The shape of every value. Throws Error where a layer does not fit.
std::vector<Shape> value_shapes(const ModelSpec& model);

// Every tensor, in order, with its offset in the flat weights.
std::vector<ParameterSpec> model_parameters(const ModelSpec& model);

size_t parameter_count(const ModelSpec& model);
size_t learnt_count(const ModelSpec& model);  // without statistics
size_t class_count(const ModelSpec& model);

// How many rows of logits an example has: 1, or one per step of a sequence whose next symbol is learnt at
// every step (nn/next_symbol.h).
size_t logit_rows(const ModelSpec& model);

// Units that are dropped together: those of one layer or, where outputs are added, of several. A client has
// one code word for them. What activations, normalisations, pools and depthwise convolutions make belongs to
// the units that they read.
struct UnitGroup {
  std::string name;            // the first of its layers
  size_t units = 0;            // of each of its layers
  bool droppable = false;      // whether clients may hold only some of them
  std::vector<size_t> layers;  // those that make the units: indices into model.layers; none of a TensorModel
};

// In the order of their first layers, or as a TensorModel lists them. A model's input has no group.
std::vector<UnitGroup> unit_groups(const ModelSpec& model);
std::vector<UnitGroup> droppable_groups(const ModelSpec& model);

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

// Glorot-uniform or He-uniform weights and zero biases, a pure function of the seed; of a TensorModel, zeros,
// because its owner knows better.
std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed);

}  // namespace subfleet
