#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings.h"
#include "subfleet/run.h"
#include "subfleet/submodel.h"

// How Python pickles and copies objects: each as a tuple of its fields. Pickles are trusted, as Python's are.
namespace subfleet::python {
namespace {

using LayerState = std::tuple<std::string, std::string, size_t, size_t, size_t, size_t, bool, bool, int,
                              float, float, std::vector<uint32_t>, std::optional<size_t>,
                              std::optional<size_t>, size_t, size_t, bool, bool>;

// A structured binding names every field: one that is forgotten here does not compile.
LayerState state_of(const LayerSpec& layer) {
  const auto& [type, name, units, kernel, stride, symbols, last_step, droppable, initial, output_scale,
               input_scale, inputs, padding, pool_stride, groups, head_units, causal, bias] = layer;
  return {type,         name,        units,
          kernel,       stride,      symbols,
          last_step,    droppable,   static_cast<int>(initial),
          output_scale, input_scale, inputs,
          padding,      pool_stride, groups,
          head_units,   causal,      bias};
}

LayerSpec layer_of(const LayerState& state) {
  LayerSpec layer;
  int initial = 0;
  std::tie(layer.type, layer.name, layer.units, layer.kernel, layer.stride, layer.symbols, layer.last_step,
           layer.droppable, initial, layer.output_scale, layer.input_scale, layer.inputs, layer.padding,
           layer.pool_stride, layer.groups, layer.head_units, layer.causal, layer.bias) = state;
  layer.initial = static_cast<Initial>(initial);
  return layer;
}

using GroupState = std::tuple<std::string, size_t, bool>;
using PartState = std::tuple<std::string, size_t, size_t>;
using TensorState =
    std::tuple<std::string, std::vector<size_t>, std::vector<PartState>, std::vector<PartState>, bool>;
using TensorsState = std::tuple<size_t, std::vector<GroupState>, std::vector<TensorState>>;

std::vector<PartState> state_of(const std::vector<AxisPart>& parts) {
  std::vector<PartState> states;
  for (const auto& [group, outer, inner] : parts) states.emplace_back(group, outer, inner);
  return states;
}

TensorsState state_of(const TensorModel& model) {
  TensorsState state{model.outputs, {}, {}};
  for (const auto& [name, units, droppable] : model.groups)
    std::get<1>(state).emplace_back(name, units, droppable);
  for (const auto& [name, shape, rows, columns, statistic] : model.tensors)
    std::get<2>(state).emplace_back(name, shape, state_of(rows), state_of(columns), statistic);
  return state;
}

std::vector<AxisPart> parts_of(const std::vector<PartState>& states) {
  std::vector<AxisPart> parts;
  for (const auto& [group, outer, inner] : states)
    parts.push_back({.group = group, .outer = outer, .inner = inner});
  return parts;
}

TensorModel tensors_of(const TensorsState& state) {
  const auto& [outputs, groups, tensors] = state;
  TensorModel model{.outputs = outputs};
  for (const auto& [name, units, droppable] : groups)
    model.groups.push_back({.name = name, .units = units, .droppable = droppable});
  for (const auto& [name, shape, rows, columns, statistic] : tensors) {
    model.tensors.push_back({.name = name,
                             .shape = shape,
                             .rows = parts_of(rows),
                             .columns = parts_of(columns),
                             .statistic = statistic});
  }
  return model;
}

using ModelState = std::tuple<std::string, std::array<size_t, 3>, std::vector<LayerState>, std::string,
                              std::optional<TensorsState>>;

ModelState state_of(const ModelSpec& model) {
  const auto& [name, input, layers, vocabulary, tensors] = model;
  std::vector<LayerState> states;
  for (const LayerSpec& layer : layers) states.push_back(state_of(layer));
  return {name,
          {input.channels, input.height, input.width},
          std::move(states),
          vocabulary,
          tensors ? std::optional(state_of(*tensors)) : std::nullopt};
}

ModelSpec model_of(const ModelState& state) {
  const auto& [name, input, layers, vocabulary, tensors] = state;
  ModelSpec model{.name = name,
                  .input = {.channels = input[0], .height = input[1], .width = input[2]},
                  .layers = {},
                  .vocabulary = vocabulary};
  for (const LayerState& layer : layers) model.layers.push_back(layer_of(layer));
  if (tensors) model.tensors = tensors_of(*tensors);
  return model;
}

using PlanState = std::tuple<size_t, size_t, size_t, size_t, size_t, std::vector<uint32_t>,
                             std::vector<std::pair<uint32_t, uint32_t>>>;
using Units = std::vector<std::vector<uint32_t>>;
using SubModelState = std::tuple<ModelState, Units, bool, size_t, size_t, Units, std::vector<PlanState>>;

SubModelState state_of(const SubModel& submodel) {
  std::vector<PlanState> plans;
  for (const TensorPlan& plan : submodel.tensors()) {
    const auto& [full_offset, sub_offset, full_columns, sub_columns, inner, rows, runs] = plan;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (const ColumnRun& run : runs) pairs.emplace_back(run.from, run.count);
    plans.emplace_back(full_offset, sub_offset, full_columns, sub_columns, inner, rows, std::move(pairs));
  }
  return {state_of(submodel.spec()), submodel.kept(),           submodel.rescaled(), submodel.size(),
          submodel.whole_size(),     submodel.channel_groups(), std::move(plans)};
}

SubModel submodel_of(const SubModelState& state) {
  const auto& [spec, kept, rescaled, size, whole_size, channel_groups, plans] = state;
  std::vector<TensorPlan> tensors;
  for (const auto& [full_offset, sub_offset, full_columns, sub_columns, inner, rows, runs] : plans) {
    TensorPlan plan{.full_offset = full_offset,
                    .sub_offset = sub_offset,
                    .full_columns = full_columns,
                    .sub_columns = sub_columns,
                    .inner = inner,
                    .rows = rows};
    for (const auto& [from, count] : runs) plan.runs.push_back({.from = from, .count = count});
    tensors.push_back(std::move(plan));
  }
  return {model_of(spec), kept, rescaled, size, whole_size, channel_groups, std::move(tensors)};
}

using Counts = std::array<uint32_t, kJobOutcomes.size()>;
using RecordState =
    std::tuple<uint32_t, uint64_t, uint64_t, double, double, Counts, double, std::optional<double>,
               std::optional<double>, std::optional<Quartiles>, std::vector<std::pair<std::string, double>>,
               std::optional<double>, std::optional<double>>;

RecordState state_of(const RoundRecord& record) {
  const auto& [round, bytes_down, bytes_up, train_loss, train_accuracy_median, outcomes, seconds,
               test_accuracy, test_loss, train_accuracies, metrics, server_rate, client_rate] = record;
  Counts counts{};
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = outcomes[kJobOutcomes[i]];
  return {round,         bytes_down, bytes_up,         train_loss, train_accuracy_median, counts,     seconds,
          test_accuracy, test_loss,  train_accuracies, metrics,    server_rate,           client_rate};
}

RoundRecord record_of(const RecordState& state) {
  RoundRecord r;
  Counts counts{};
  std::tie(r.round, r.bytes_down, r.bytes_up, r.train_loss, r.train_accuracy_median, counts, r.seconds,
           r.test_accuracy, r.test_loss, r.train_accuracies, r.metrics, r.server_rate, r.client_rate) = state;
  for (size_t i = 0; i < counts.size(); ++i) r.outcomes[kJobOutcomes[i]] = counts[i];
  return r;
}

using EvaluationState = std::tuple<uint64_t, uint64_t, double>;

EvaluationState state_of(const Evaluation& evaluation) {
  const auto& [examples, correct, loss] = evaluation;
  return {examples, correct, loss};
}

Evaluation evaluation_of(const EvaluationState& state) {
  const auto& [examples, correct, loss] = state;
  return {.examples = examples, .correct = correct, .loss = loss};
}

using ResultState = std::tuple<int, std::string, uint32_t, double, double, double, uint64_t, uint64_t>;

ResultState state_of(const JobResult& result) {
  const auto& [outcome, why, examples, loss, accuracy, squared_norm, bytes_down, bytes_up] = result;
  return {static_cast<int>(outcome), why, examples, loss, accuracy, squared_norm, bytes_down, bytes_up};
}

JobResult result_of(const ResultState& state) {
  JobResult r;
  int outcome = 0;
  std::tie(outcome, r.why, r.examples, r.loss, r.accuracy, r.squared_norm, r.bytes_down, r.bytes_up) = state;
  r.outcome = static_cast<JobOutcome>(outcome);
  return r;
}

// Of a type that is bound already.
template <typename T, typename State>
void bind_state(T (*value_of)(const State&)) {
  nb::borrow<nb::class_<T>>(nb::type<T>())
      .def("__getstate__", [](const T& value) { return state_of(value); })
      .def("__setstate__", [value_of](T& self, const State& state) { new (&self) T(value_of(state)); });
}

}  // namespace

void bind_states(nb::module_&) {
  bind_state(&layer_of);
  bind_state(&model_of);
  bind_state(&submodel_of);
  bind_state(&record_of);
  bind_state(&evaluation_of);
  bind_state(&result_of);
}

}  // namespace subfleet::python
