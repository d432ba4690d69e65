#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "checks.h"
#include "config_options.h"
#include "help.h"
#include "subfleet/charts/text_chart.h"
#include "subfleet/data.h"
#include "subfleet/report/terminal.h"
#include "subfleet/round_masks.h"
#include "subfleet/run.h"

namespace subfleet::cli {
namespace {

struct PlanOptions {
  ConfigOptions config;
  uint32_t round = 1;
  bool rates = false;
};

// The first round and `count` more at most, evenly spread to the last.
std::vector<uint32_t> spread_over(uint32_t rounds, uint32_t count) {
  std::vector<uint32_t> chosen{1};
  for (uint32_t i = 1; i <= count; ++i) {
    const auto round = static_cast<uint32_t>(uint64_t{rounds} * i / count);
    if (round > chosen.back()) chosen.push_back(round);
  }
  return chosen;
}

// What becomes of both learning rates over the run.
void print_rates(Config config) {
  resolve_horizon(config);
  const uint32_t rounds = std::max(config.run.rounds, config.schedules.horizon);
  Series server{.name = fmt::format("server, {:g}", config.server.lr), .points = {}};
  Series clients{.name = fmt::format("clients, {:g}", config.round.client_lr), .points = {}};
  constexpr uint32_t kPoints = 200;
  for (const uint32_t round : spread_over(rounds, kPoints)) {
    const uint32_t horizon = config.schedules.horizon;
    const auto x = static_cast<double>(round);
    server.points.push_back({x, share_of_rate(config.schedules.server, round, horizon)});
    clients.points.push_back({x, share_of_rate(config.schedules.clients, round, horizon)});
  }
  const Terminal terminal = look_at_terminal(stdout);
  fmt::print("{}", text_chart({.title = "Share of the learning rate",
                               .x_label = "round",
                               .y_label = "share",
                               .x_unit = Unit::kCount,
                               .series = {server, clients}},
                              {.unicode = terminal.unicode,
                               .colour = terminal.colour,
                               .width = std::clamp<size_t>(terminal.width, 40, 70)}));
  constexpr uint32_t kLines = 10;
  fmt::print("{:>8}  {:>11}  {:>12}\n", "round", "server rate", "clients' rate");
  for (const uint32_t round : spread_over(rounds, kLines)) {
    fmt::print("{:>8}  {:>11.4g}  {:>12.4g}\n", round, server_rate(config, round),
               client_rate(config, round));
  }
}

// One JSON line per client, in the order of the code books' rows.
void print_plan(const PlanOptions& options) {
  const Config config = options.config.config();
  const SplitFederation data = open_split_federation(config.data);
  const ModelSpec model = resolve_model(config.model);
  check_fits(config, model, data.clients(), data.all().input(), data.all().classes());
  const uint32_t draw = draw_of_round(config, options.round);
  const auto clients = sample_clients(config.run.seed, draw, config.round.clients, data.clients());
  const RoundMasks masks(model, config.code, config.run.seed, draw, config.round.clients);
  const std::vector<UnitGroup> groups = droppable_groups(model);
  const std::vector<double>& tiers = config.code.tiers;
  for (uint32_t row = 0; row < clients.size(); ++row) {
    nlohmann::ordered_json line{{"client", clients[row]}, {"examples", data.train_samples(clients[row])}};
    if (!tiers.empty()) line["tier"] = tiers[client_tier(tiers.size(), config.run.seed, clients[row])];
    line["kept"] = nlohmann::ordered_json::object();
    const auto kept = masks.kept(row, clients[row]);
    for (size_t i = 0; i < groups.size(); ++i) {
      line["kept"][groups[i].name] = kept[i];
      if (config.code.rescale) line["scale"][groups[i].name] = output_scale(groups[i].units, kept[i].size());
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
  CLI::Option* round = command->add_option("--round", options->round, "counted from 1")
                           ->check(whole_number(1, std::numeric_limits<uint32_t>::max()))
                           ->capture_default_str();
  command->add_flag("--rates", options->rates, "show the learning rates of all rounds instead")
      ->excludes(round);
  command->footer(footer("", {"subfleet plan --set code.family=gold", "subfleet plan settings.toml --round 7",
                              "subfleet plan --set server.schedule=cosine --set server.warmup=20 --rates"}));
  command->callback(
      [options] { options->rates ? print_rates(options->config.config()) : print_plan(*options); });
}

}  // namespace subfleet::cli
