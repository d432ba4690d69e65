#include "page/layer_bytes.h"

#include <algorithm>
#include <numeric>

#include "subfleet/model.h"
#include "subfleet/round_masks.h"
#include "subfleet/run.h"

namespace subfleet {
namespace {

constexpr size_t kMostClients = 50;  // whose sub-models are counted: the others' are much the same

std::string layer_of(const ParameterSpec& parameter) {
  return parameter.name.substr(0, parameter.name.rfind('.'));
}

}  // namespace

bool quickly_drawn(const Config& config) { return config.round.clients <= 1000; }

std::vector<uint32_t> first_clients(const RunSummary& run, const Config& config) {
  const uint32_t count = config.round.clients, draw = draw_of_round(config, 1);
  if (run.provenance && run.provenance->data.clients >= count)
    return sample_clients(config.run.seed, draw, count, run.provenance->data.clients);
  std::vector<uint32_t> any(count);
  std::iota(any.begin(), any.end(), 0);
  return any;
}

std::vector<LayerBytes> bytes_by_layer(const RunSummary& run, const Config& config) {
  if (run.rounds.empty()) return {};
  const ModelSpec model = resolve_model(config.model);
  const std::vector<uint32_t> clients = first_clients(run, config);
  const RoundMasks masks(model, config.code, config.run.seed, draw_of_round(config, 1), config.round.clients);
  const std::vector<ParameterSpec> parameters = model_parameters(model);
  std::vector<double> held(parameters.size(), 0.0);
  for (uint32_t row = 0; row < std::min(clients.size(), kMostClients); ++row) {
    const SubModel submodel = masks.submodel(row, clients[row]);
    for (size_t i = 0; i < held.size(); ++i) {
      const TensorPlan& tensor = submodel.tensors()[i];
      held[i] += static_cast<double>(tensor.rows.size() * tensor.sub_columns * tensor.inner);
    }
  }
  const double all = std::accumulate(held.begin(), held.end(), 0.0);
  std::vector<LayerBytes> layers;
  for (size_t i = 0; i < held.size(); ++i) {
    const std::string name = layer_of(parameters[i]);
    if (layers.empty() || layers.back().layer != name) layers.push_back({.layer = name});
    layers.back().down += held[i] / all * static_cast<double>(run.rounds.front().bytes_down);
    layers.back().up += held[i] / all * static_cast<double>(run.rounds.front().bytes_up);
  }
  return layers;
}

}  // namespace subfleet
