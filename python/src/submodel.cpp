#include "subfleet/submodel.h"

#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "config_values.h"
#include "subfleet/config.h"
#include "subfleet/round_masks.h"
#include "subfleet/run.h"
#include "threads.h"

namespace subfleet::python {
namespace {

using Kept = std::vector<std::vector<uint32_t>>;

Out<float> gather(const SubModel& submodel, const In<float>& whole) {
  check_size("weights", whole.size(), submodel.whole_size());
  std::vector<float> sub(submodel.size());
  {
    const WithoutGil release;
    submodel.gather(span_of(whole), sub);
  }
  return array_of(std::move(sub));
}

void scatter(const SubModel& submodel, const In<float>& sub, const InOut<float>& whole) {
  check_size("weights of the sub-model", sub.size(), submodel.size());
  check_size("weights", whole.size(), submodel.whole_size());
  const WithoutGil release;
  submodel.scatter(span_of(sub), span_of(whole));
}

Out<int64_t> indices(const SubModel& submodel) {
  std::vector<int64_t> all(submodel.size());
  submodel.for_each_run([&](size_t whole, size_t sub, size_t count) {
    std::iota(all.begin() + static_cast<ptrdiff_t>(sub), all.begin() + static_cast<ptrdiff_t>(sub + count),
              static_cast<int64_t>(whole));
  });
  return array_of(std::move(all));
}

void bind_masks(nb::module_& m) {
  nb::class_<RoundMasks>(
      m, "RoundMasks",
      "What the clients of one round keep of every droppable layer: a code book per layer, "
      "drawn from the settings code.*, run.seed and round.clients, and the round's number.")
      .def(
          "__init__",
          [](RoundMasks* self, const ModelSpec& model, const Config& config, uint32_t round) {
            const WithoutGil release;
            new (self)
                RoundMasks(model, config.code, config.run.seed, draw_of(config, round), config.round.clients);
          },
          nb::arg("model"), nb::arg("config"), nb::arg("round"), "Rounds are counted from 1.")
      .def("kept", &RoundMasks::kept, nb::arg("row"), nb::arg("client") = 0,
           "The units of every droppable layer that the client keeps when it gets that row. The client only "
           "matters where code.tiers has several.")
      .def("submodel", &RoundMasks::submodel, nb::arg("row"), nb::arg("client") = 0,
           "The sub-model of these units.")
      .def("__repr__", [](const RoundMasks& masks) {
        return fmt::format("RoundMasks({} rows of {} layers)", masks.rows(), masks.books().size());
      });
  m.def(
      "sample_clients",
      [](const Config& config, uint32_t round, uint32_t clients) {
        return sample_clients(config.run.seed, draw_of(config, round), config.round.clients, clients);
      },
      nb::arg("config"), nb::arg("round"), nb::arg("clients"),
      "Which of `clients` clients take part in a round, in the order of the code books' rows.");
}

}  // namespace

void bind_submodel(nb::module_& m) {
  nb::class_<SubModel>(m, "SubModel",
                       "What one client gets: a genuinely smaller model, and where its weights lie in the "
                       "whole one.")
      .def(
          "__init__",
          [](SubModel* self, const ModelSpec& model, const Kept& kept, bool rescale) {
            new (self) SubModel(model, kept, rescale);
          },
          nb::arg("model"), nb::arg("kept"), nb::arg("rescale") = false,
          "`kept` holds the kept units of each of Model.droppable, ascending. With `rescale`, units are "
          "divided by the kept part, as in inverted dropout (Layer.output_scale, Layer.input_scale).")
      .def_prop_ro("model", &SubModel::spec, nb::rv_policy::copy, "The smaller model.")
      .def_prop_ro("kept", &SubModel::kept, nb::rv_policy::copy,
                   "The kept units of each of the whole model's droppable groups.")
      .def_prop_ro("rescaled", &SubModel::rescaled, "Whether units are divided by the kept part.")
      .def_prop_ro("size", &SubModel::size, "How many weights it has.")
      .def_prop_ro("whole_size", &SubModel::whole_size, "How many the model has that it was taken from.")
      .def_prop_ro(
          "channel_groups", &SubModel::channel_groups, nb::rv_policy::copy,
          "For each groupnorm layer, where the kept channels of each of the whole model's groups end.")
      .def("gather", &gather, nb::arg("whole"), "Its weights out of the whole model's, as a new array.")
      .def("scatter", &scatter, nb::arg("sub"), nb::arg("whole").noconvert(),
           "Writes its weights to their places in `whole`, a float32 array.")
      .def("indices", &indices, "Where each of its weights lies in the whole model's flat weights.")
      .def("__repr__", [](const SubModel& submodel) {
        return fmt::format("SubModel({} of {} weights)", submodel.size(), submodel.whole_size());
      });
  m.def(
      "whole_model", [](const ModelSpec& model) { return whole_model(model); }, nb::arg("model"),
      "The sub-model that keeps every unit.");
  bind_masks(m);
}

}  // namespace subfleet::python
