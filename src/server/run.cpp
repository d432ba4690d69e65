// One round of coded federated dropout: Verardo et al., "Fast Server Learning Rate Tuning for Coded Federated
// Dropout", section 3.2, with the decisions of ARCHITECTURE.md where the paper is silent.

#include "subfleet/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "server/message.h"
#include "server/weight_ranges.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"

namespace subfleet {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle] + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

void summarise(std::span<const JobReport> reports, RoundReport& round) {
  std::vector<double> accuracies;
  double loss = 0, examples = 0;
  for (const JobReport& report : reports) {
    round.diverged += report.diverged ? 1 : 0;
    if (report.diverged || report.examples == 0) continue;
    accuracies.push_back(report.accuracy);
    loss += report.loss * report.examples;
    examples += report.examples;
  }
  round.train_accuracy_median = median(std::move(accuracies));
  round.train_loss = examples == 0 ? 0 : loss / examples;
}

bool all_finite(std::span<const float> weights, ThreadPool& pool) {
  std::atomic<bool> finite = true;
  for_weight_ranges(weights.size(), pool, [&](size_t begin, size_t end) {
    bool ok = true;
    for (size_t i = begin; i < end; ++i) ok &= std::isfinite(weights[i]);
    if (!ok) finite = false;
  });
  return finite;
}

}  // namespace

std::vector<uint32_t> sample_clients(uint64_t seed, uint32_t draw, uint32_t count, uint32_t total) {
  // Floyd's sampling: every set of `count` is equally likely, in memory that does not grow with `total`.
  Random random({.seed = seed, .round = draw, .purpose = Purpose::kSampleClients});
  std::unordered_set<uint32_t> taken;
  std::vector<uint32_t> chosen;
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
  if (config.clients > clients) {
    throw bad_request("round.clients",
                      fmt::format("{} a round, but there are only {}", config.clients, clients));
  }
  if (!(input == model.input) || classes > class_count(model)) {
    throw bad_request("model.name",
                      fmt::format("{} takes {}x{}x{} and {} classes; the data have {}x{}x{} and {}",
                                  model.name, model.input.channels, model.input.height, model.input.width,
                                  class_count(model), input.channels, input.height, input.width, classes));
  }
}

Run::Run(const Config& config, Fleet& fleet, ThreadPool& pool)
    : config_(config),
      fleet_(fleet),
      pool_(pool),
      model_(find_model(config.model)),
      weights_(initial_weights(model_, config.run.seed)),
      optimizer_(make_server_optimizer(config.server, weights_.size())),
      sum_(weights_.size()) {
  check_fits(config, model_, fleet.clients(), fleet.input(), fleet.classes());
}

RoundReport Run::step() {
  const Cohort cohort = begin_round();
  // 3, 4: the clients train; their updates become one partial sum.
  return end_round(fleet_.train(cohort.weights, cohort.jobs, cohort.how, *cohort.sum));
}

// 1, 2: who takes part, and with which part of the model.
Cohort Run::begin_round() {
  const uint64_t seed = config_.run.seed;
  report_ = {.round = round_ + 1};
  const uint32_t draw = draw_of_round(config_, report_.round);
  const std::vector<uint32_t> clients = sample_clients(seed, draw, config_.clients, fleet_.clients());
  submodels_ = draw_submodels(model_, config_.code, seed, draw, clients);
  jobs_.clear();
  const JobMessage down{.model = model_.name, .code = config_.code, .local = config_.local, .weights = {}};
  for (size_t row = 0; row < clients.size(); ++row) {
    jobs_.push_back({.client = clients[row],
                     .submodel = &submodels_[row],
                     .batch_order = {seed, draw, clients[row], Purpose::kBatchOrder}});
    report_.bytes_down += encoded_size(down, submodels_[row].size());
    report_.bytes_up += encoded_size(UpdateMessage{}, submodels_[row].size());
  }
  sum_.clear();
  LocalTraining how = config_.local;
  how.squared_norms = optimizer_->wants_squared_norms();
  return {.weights = weights_, .jobs = jobs_, .how = how, .sum = &sum_};
}

// 5: the server steps.
RoundReport Run::end_round(std::span<const JobReport> reports) {
  const auto over = [this](std::string_view why) {
    return Diverged(failure(fmt::format("round {}", report_.round), why), report_);
  };
  summarise(reports, report_);
  if (report_.diverged == reports.size()) {
    throw over("every client's training diverged; lower round.client_lr or server.lr and start again");
  }
  optimizer_->step(weights_, sum_, reports, pool_);
  if (!all_finite(weights_, pool_)) {
    throw over("the weights are no longer finite; lower server.lr and start again");
  }
  round_ = report_.round;
  return report_;
}

std::vector<RoundReport> step_together(std::span<Run* const> runs, Fleet& fleet) {
  std::vector<Cohort> cohorts;
  for (Run* run : runs) cohorts.push_back(run->begin_round());
  const std::vector<std::vector<JobReport>> reports = fleet.train_together(cohorts);
  std::vector<RoundReport> rounds;
  for (size_t i = 0; i < runs.size(); ++i) {
    try {
      rounds.push_back(runs[i]->end_round(reports[i]));
    } catch (const Diverged& diverged) {
      rounds.push_back(diverged.last());
      rounds.back().train_accuracy_median = rounds.back().train_loss =
          std::numeric_limits<double>::quiet_NaN();
    }
  }
  return rounds;
}

void Run::set_weights(std::span<const float> weights) {
  std::copy(weights.begin(), weights.end(), weights_.begin());
}

void Run::restore(uint32_t round, std::span<const float> weights,
                  std::span<const std::vector<float>> moments) {
  set_weights(weights);
  const auto mine = optimizer_->moments();
  for (size_t i = 0; i < mine.size(); ++i)
    std::copy(moments[i].begin(), moments[i].end(), mine[i].values.begin());
  round_ = round;
}

}  // namespace subfleet
