#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/run_folder.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/saved_config.h"
#include "threads.h"

namespace subfleet::python {
namespace {

namespace fs = std::filesystem;
using Metadata = std::map<std::string, std::string>;
using Tensors = nb::typed<nb::dict, nb::str, Out<float>>;

std::tuple<Tensors, Metadata> read_tensors(const fs::path& path) {
  TensorFile file;
  {
    const WithoutGil release;
    file = load_safetensors(path);
  }
  Tensors tensors;
  for (auto& [name, tensor] : file.tensors) {
    if (tensor.dtype != "F32") continue;
    const auto* kept = new std::vector<float>(std::move(tensor.values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
    tensors[name.c_str()] = nb::cast(
        Out<float>(const_cast<float*>(kept->data()), tensor.shape.size(), tensor.shape.data(), owner));
  }
  return {std::move(tensors), std::move(file.metadata)};
}

void write_tensors(const fs::path& path, const nb::dict& tensors, const Metadata& metadata) {
  using Any = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
  std::vector<Any> arrays;
  std::vector<TensorView> views;
  for (const auto& [name, value] : tensors) {
    TensorView view{};
    if (!nb::try_cast(name, view.name)) throw bad_request("tensors", "must be arrays by their names");
    Any array;
    if (!nb::try_cast(value, array)) throw bad_request(view.name, "must be an array of float32");
    arrays.push_back(array);
    view.values = span_of(array);
    for (size_t i = 0; i < array.ndim(); ++i) view.shape.push_back(array.shape(i));
    views.push_back(std::move(view));
  }
  const WithoutGil release;
  save_safetensors(path, views, metadata);
}

}  // namespace

void bind_folder(nb::module_& m) {
  nb::class_<RunSummary>(m, "RunSummary",
                         "What a run folder says about its run; subfleet.read_run makes more of it.")
      .def(
          "__init__",
          [](RunSummary* self, const fs::path& folder) {
            const WithoutGil release;
            new (self) RunSummary(load_run(folder));
          },
          nb::arg("folder"))
      .def_ro("name", &RunSummary::name)
      .def_ro("folder", &RunSummary::folder)
      .def_ro("rounds", &RunSummary::rounds)
      .def_ro("search_bytes", &RunSummary::search_bytes,
              "Exchanged by the other candidates of the search that it won.")
      .def_prop_ro(
          "provenance",
          [](const RunSummary& run) {
            return run.provenance ? to_json(*run.provenance) : std::string("null");
          },
          "As JSON.");
  m.def(
      "load_run_config", [](const fs::path& folder) { return load_config(folder / "config.toml"); },
      nb::arg("folder"), "The settings of a run folder.");
  m.def(
      "load_run_weights",
      [](const fs::path& folder) {
        std::tuple<ModelSpec, std::vector<float>> trained;
        auto& [model, weights] = trained;
        {
          const WithoutGil release;
          model = resolve_model(RunWriter::config(folder).model);
          weights = RunWriter::weights(folder, model);
        }
        return std::tuple(std::move(model), array_of(std::move(weights)));
      },
      nb::arg("folder"),
      "The model of a run folder and its trained weights. Raises Error for a run that has none, or that has "
      "gone on since.");
  m.def("load_safetensors", &read_tensors, nb::arg("path"),
        "The float32 tensors of a safetensors file by their names, and its metadata. Raises Error for a file "
        "that is not well-formed.");
  m.def("save_safetensors", &write_tensors, nb::arg("path"), nb::arg("tensors"),
        nb::arg("metadata") = Metadata{},
        "Writes float32 tensors; the same tensors and metadata give the same bytes.");
}

}  // namespace subfleet::python
