#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "config_options.h"
#include "help.h"
#include "subfleet/data.h"
#include "subfleet/round_masks.h"
#include "subfleet/run.h"

namespace subfleet::cli {
namespace {

struct PlanOptions {
  ConfigOptions config;
  uint32_t round = 1;
};

// One JSON line per client, in the order of the code books' rows.
void print_plan(const PlanOptions& options) {
  const Config config = options.config.config();
  const SplitFederation data = open_split_federation(config.data);
  const ModelSpec model = resolve_model(config.model);
  check_fits(config, model, data.clients(), data.all().input(), data.all().classes());
  const uint32_t draw = draw_of_round(config, options.round);
  const auto clients = sample_clients(config.run.seed, draw, config.round.clients, data.clients());
  const RoundMasks masks(model, config.code, config.run.seed, draw, config.round.clients);
  const auto layers = droppable_layers(model);
  const std::vector<double>& tiers = config.code.tiers;
  for (uint32_t row = 0; row < clients.size(); ++row) {
    nlohmann::ordered_json line{{"client", clients[row]}, {"examples", data.train_samples(clients[row])}};
    if (!tiers.empty()) line["tier"] = tiers[client_tier(tiers.size(), config.run.seed, clients[row])];
    line["kept"] = nlohmann::ordered_json::object();
    const auto kept = masks.kept(row, clients[row]);
    for (size_t i = 0; i < layers.size(); ++i) {
      const LayerSpec& layer = model.layers[layers[i]];
      line["kept"][layer.name] = kept[i];
      if (config.code.rescale) line["scale"][layer.name] = output_scale(layer.units, kept[i].size());
    }
    fmt::print("{}\n", line.dump());
  }
}

}  // namespace

void add_plan_command(CLI::App& program) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = program.add_subcommand(
      "plan", "Print who takes part in a round and which units each holds, one JSON line per client");
  options->config.add_to(*command);
  command->add_option("--round", options->round, "counted from 1")
      ->check(whole_number(1, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str();
  command->footer(
      footer("", {"subfleet plan --set code.family=gold", "subfleet plan settings.toml --round 7"}));
  command->callback([options] { print_plan(*options); });
}

}  // namespace subfleet::cli
