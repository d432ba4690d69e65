#include "subfleet/model.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/server/message.h"
#include "threads.h"

namespace subfleet::python {
namespace {

using Sides = std::tuple<size_t, size_t, size_t>;
Sides sides_of(const Shape& shape) { return {shape.channels, shape.height, shape.width}; }

// A name of the zoo, a model file's text, or a model file.
ModelSpec model_of(const std::string& what) {
  if (what.find('\n') != std::string::npos) return parse_model(what, "model");
  if (what.ends_with(".toml") || what.find('/') != std::string::npos) return load_model_file(what);
  return find_model(what);
}

void bind_layers(nb::module_& m) {
  nb::class_<LayerSpec>(m, "Layer", "One layer of a model, as data.")
      .def_ro("type", &LayerSpec::type, "\"conv2d\", \"dense\", \"relu\", ...: docs/models.md.")
      .def_ro("name", &LayerSpec::name, "Prefix of its tensors' names; empty for layers without weights.")
      .def_ro("units", &LayerSpec::units, "Filters, units or heads; 0 for layers without units.")
      .def_ro("kernel", &LayerSpec::kernel, "The side of a convolution's kernel or a pool's window.")
      .def_ro("stride", &LayerSpec::stride, "Of a convolution, in both directions.")
      .def_ro("symbols", &LayerSpec::symbols, "embedding: how many different inputs there are.")
      .def_ro("last_step", &LayerSpec::last_step, "lstm, gru: only the last step's output leaves.")
      .def_ro("padding", &LayerSpec::padding, "conv2d, pools; None is the default.")
      .def_ro("pool_stride", &LayerSpec::pool_stride, "Of a pool; None is its kernel.")
      .def_ro("groups", &LayerSpec::groups, "groupnorm: of channels; conv2d: one per channel if depthwise.")
      .def_ro("head_units", &LayerSpec::head_units, "attention: features of a head.")
      .def_ro("causal", &LayerSpec::causal, "attention: no step looks at a later one.")
      .def_ro("bias", &LayerSpec::bias)
      .def_ro("droppable", &LayerSpec::droppable, "Whether clients may hold only some of the units.")
      .def_ro("output_scale", &LayerSpec::output_scale,
              "What leaves is multiplied by it; other than 1 only in rescaled sub-models.")
      .def_ro("input_scale", &LayerSpec::input_scale, "The same of what enters.")
      .def("__repr__", [](const LayerSpec& l) {
        return l.units == 0 ? fmt::format("Layer({})", l.type)
                            : fmt::format("Layer({}, {}, {} units)", l.type, l.name, l.units);
      });
  nb::class_<ParameterSpec>(m, "Parameter", "One tensor of a model, with PyTorch's name and layout.")
      .def_ro("name", &ParameterSpec::name)
      .def_prop_ro("shape", [](const ParameterSpec& p) { return nb::tuple(nb::cast(p.shape)); })
      .def_ro("statistic", &ParameterSpec::statistic, "Averaged over its holders and never stepped.")
      .def_ro("offset", &ParameterSpec::offset, "Of its first value in the model's flat weights.")
      .def_prop_ro("size", &ParameterSpec::size)
      .def("__repr__", [](const ParameterSpec& p) {
        return fmt::format("Parameter({}, [{}])", p.name, fmt::join(p.shape, ", "));
      });
}

}  // namespace

void bind_model(nb::module_& m) {
  bind_layers(m);
  nb::class_<ModelSpec>(m, "Model",
                        "A graph of layers that ends in one number per class; the loss is softmax "
                        "cross-entropy. Weights are one flat float32 array.")
      .def(
          "__init__",
          [](ModelSpec* self, const std::filesystem::path& what) {
            new (self) ModelSpec(model_of(what.string()));
          },
          nb::arg("what"), "A model of the zoo by its name, a model file (FILE.toml), or such a file's text.")
      .def_ro("name", &ModelSpec::name)
      .def_prop_ro(
          "input", [](const ModelSpec& model) { return sides_of(model.input); },
          "Channels, height and width of one example.")
      .def_ro("layers", &ModelSpec::layers, "From the input to the classes.")
      .def_ro("vocabulary", &ModelSpec::vocabulary, "Of a model for text: the character of each symbol.")
      .def_prop_ro("parameters", &model_parameters, "Every tensor, in the order of the flat weights.")
      .def_prop_ro("size", &parameter_count, "How many weights there are.")
      .def_prop_ro("classes", &class_count, "How many there are.")
      .def_prop_ro(
          "droppable",
          [](const ModelSpec& model) {
            std::vector<std::string> names;
            for (const UnitGroup& group : droppable_groups(model)) names.push_back(group.name);
            return names;
          },
          "The names of the groups of units of which clients may hold a part, in order: each its first "
          "layer's.")
      .def_prop_ro(
          "shapes",
          [](const ModelSpec& model) {
            std::vector<Sides> all;
            for (const Shape& shape : value_shapes(model)) all.push_back(sides_of(shape));
            return all;
          },
          "The shape of the input, and then of what each layer makes.")
      .def_prop_ro(
          "inputs",
          [](const ModelSpec& model) {
            std::vector<std::vector<uint32_t>> all;
            for (size_t i = 0; i < model.layers.size(); ++i) all.push_back(layer_inputs(model, i));
            return all;
          },
          "What each layer reads: 0 is the input, i + 1 what layers[i] makes.")
      .def(
          "initial_weights",
          [](const ModelSpec& model, uint64_t seed) {
            std::vector<float> weights;
            {
              const WithoutGil release;
              weights = initial_weights(model, seed);
            }
            return array_of(std::move(weights));
          },
          nb::arg("seed") = 0, "Glorot- or He-uniform weights and zero biases, named by the seed.")
      .def("toml", &model_toml, "The model as a model file's text.")
      .def(
          "__eq__", [](const ModelSpec& a, const ModelSpec& b) { return a == b; }, nb::is_operator(),
          kEqualSignature)
      .def("__repr__", [](const ModelSpec& model) {
        return fmt::format("Model({}, {} weights)", model.name, parameter_count(model));
      });
  m.def("model_names", &model_names, "The models of the zoo.");
}

}  // namespace subfleet::python
