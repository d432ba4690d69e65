// One round of coded federated dropout: Verardo et al., "Fast Server Learning Rate Tuning for Coded Federated
// Dropout", section 3.2, with the decisions of ARCHITECTURE.md where the paper is silent.

#include "subfleet/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"

namespace subfleet {
namespace {

// Quartiles between two values are on the straight line from one to the other.
Quartiles quartiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    return std::lerp(values[below], values[std::min(below + 1, values.size() - 1)],
                     place - static_cast<double>(below));
  };
  const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  return {values.front(), at(0.25), median, at(0.75), values.back()};
}

RoundRecord summary_of(uint32_t round, std::span<const JobResult> results) {
  RoundRecord record{.round = round};
  std::vector<double> accuracies;
  double loss = 0, examples = 0;
  for (const JobResult& result : results) {
    record.bytes_down += result.bytes_down;
    record.bytes_up += result.bytes_up;
    ++record.outcomes[result.outcome];
    if (result.outcome != JobOutcome::kTrained || result.examples == 0) continue;
    accuracies.push_back(result.accuracy);
    loss += result.loss * result.examples;
    examples += result.examples;
  }
  if (!accuracies.empty()) {
    record.train_accuracies = quartiles_of(std::move(accuracies));
    record.train_accuracy_median = (*record.train_accuracies)[2];
  }
  record.train_loss = examples == 0 ? 0 : loss / examples;
  return record;
}

}  // namespace

std::vector<uint32_t> sample_clients(uint64_t seed, uint32_t draw, uint32_t count, uint32_t total) {
  // Floyd's sampling: every set of `count` is equally likely, in memory that does not grow with `total`.
  Random random({.seed = seed, .round = draw, .purpose = Purpose::kSampleClients});
  std::unordered_set<uint32_t> taken;
  std::vector<uint32_t> chosen;
  if (count > total) {
    throw bad_request("round.clients", fmt::format("{} per round, but there are only {}", count, total));
  }
  for (uint32_t last = total - count; last < total; ++last) {
    uint32_t client = random.below(last + 1);
    if (!taken.insert(client).second) {
      client = last;
      taken.insert(client);
    }
    chosen.push_back(client);
  }
  random.shuffle(std::span(chosen));
  return chosen;
}

uint32_t draw_of_round(const Config& config, uint32_t round) { return config.run.first_draw + round; }

void check_fits(const Config& config, const ModelSpec& model, uint32_t clients, const Shape& input,
                uint32_t classes) {
  if (config.round.clients > clients) {
    throw bad_request("round.clients",
                      fmt::format("{} per round, but there are only {}", config.round.clients, clients));
  }
  const size_t symbols = model.layers.empty() ? 0 : model.layers.front().symbols;
  if (symbols > 0 && symbols < classes) {
    throw bad_request("model",
                      fmt::format("{} knows {} symbols; the data have {}", model.name, symbols, classes));
  }
  if (!(input == model.input) || classes > class_count(model)) {
    throw bad_request(
        "model", fmt::format("{} takes {}x{}x{} and {} classes; the data have {}x{}x{} and {}", model.name,
                             model.input.channels, model.input.height, model.input.width, class_count(model),
                             input.channels, input.height, input.width, classes));
  }
}

Run::Run(const Config& config, Fleet& fleet)
    : config_(config), fleet_(fleet), model_(resolve_model(config.model)) {
  resolve_horizon(config_);
  check_fits(config, model_, fleet.clients(), fleet.input(), fleet.classes());
  metrics_of(config);
  state_ = fleet.make_state(model_, config.server);
  state_->set_weights(fleet.initial_weights(model_, config.run.seed));
}

RoundRecord Run::step() {
  const Cohort cohort = begin_round();
  // 3, 4: the clients train; their updates become one partial sum.
  return end_round(fleet_.train({&cohort, 1}).front());
}

// A pure function of what is copied here, so the run may go on meanwhile. If no thread can be started, it
// runs when its result is needed.
std::future<Run::Draw> Run::start_draw(uint32_t number) const {
  return std::async(
      std::launch::async | std::launch::deferred,
      [number, model = model_, code = config_.code, seed = config_.run.seed, count = config_.round.clients,
       total = fleet_.clients()] {
        Draw draw{.number = number, .clients = sample_clients(seed, number, count, total), .submodels = {}};
        draw.submodels = draw_submodels(model, code, seed, number, draw.clients);
        return draw;
      });
}

// 1, 2: who takes part, and with which part of the model. The draw of the round after is begun at once.
Cohort Run::begin_round() {
  const uint64_t seed = config_.run.seed;
  const uint32_t number = draw_of_round(config_, round_ + 1);
  if (!next_draw_.valid()) next_draw_ = start_draw(number);
  draw_ = next_draw_.get();
  if (draw_.number != number) draw_ = start_draw(number).get();  // the run went on from somewhere else
  if (round_ + 1 < config_.run.rounds) next_draw_ = start_draw(draw_of_round(config_, round_ + 2));
  jobs_.clear();
  for (uint32_t row = 0; row < draw_.clients.size(); ++row)
    jobs_.push_back({.client = draw_.clients[row], .row = row, .submodel = &draw_.submodels[row]});
  state_->clear_sum();
  LocalTraining how = config_.round;
  how.client_lr = client_rate(config_, round_ + 1);
  return {.model = &model_,
          .code = config_.code,
          .seed = seed,
          .draw = number,
          .rows = config_.round.clients,
          .jobs = jobs_,
          .how = how,
          .wire = {.down = &find_codec(config_.wire.down), .up = &find_codec(config_.wire.up)},
          .squared_norms = wants_squared_norms(config_.server.optimizer),
          .state = state_.get()};
}

// 5: the server steps. A round in which no client was trained leaves the weights unchanged.
RoundRecord Run::end_round(std::span<const JobResult> results) {
  RoundRecord record = summary_of(round_ + 1, results);
  if (!is_constant(config_.schedules.server)) record.server_rate = server_rate(config_, record.round);
  if (!is_constant(config_.schedules.clients))
    record.client_rate = number_in(fmt::format("{}", client_rate(config_, record.round)));
  const auto over = [&](std::string_view why) {
    return Diverged(failure(fmt::format("round {}", record.round), why), record);
  };
  const uint32_t trained = record.outcomes[JobOutcome::kTrained];
  if (trained == 0 && record.outcomes[JobOutcome::kDiverged] > 0) {
    throw over("every client's training diverged; lower round.client_lr or server.lr and start again");
  }
  const ServerRound round{.lr = server_rate(config_, record.round),
                          .keep_average = kept_average(config_.server.average, record.round),
                          .results = results};
  if (trained > 0 && !state_->step(round)) {
    throw over("the weights are no longer finite; lower server.lr and start again");
  }
  round_ = record.round;
  clients_.clear();
  for (size_t i = 0; i < results.size(); ++i) clients_.push_back({draw_.clients[i], results[i]});
  return record;
}

std::vector<SteppedRound> step_together(std::span<Run* const> runs, Fleet& fleet) {
  std::vector<Cohort> cohorts;
  for (Run* run : runs) cohorts.push_back(run->begin_round());
  const std::vector<std::vector<JobResult>> results = fleet.train(cohorts);
  std::vector<SteppedRound> rounds;
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      rounds.push_back({runs[i]->end_round(results[i])});
    } catch (const Diverged& diverged) {
      RoundRecord last = diverged.last();
      last.train_accuracies.reset();
      last.train_accuracy_median = last.train_loss = std::numeric_limits<double>::quiet_NaN();
      rounds.push_back({last, diverged.what()});
    }
  }
  return rounds;
}

void Run::restore(uint32_t round, std::span<const float> weights,
                  std::span<const std::vector<float>> moments) {
  state_->set_weights(weights);
  state_->set_moments(moments);
  round_ = round;
}

}  // namespace subfleet
