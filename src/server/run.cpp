// One round of coded federated dropout: Verardo et al., "Fast Server Learning Rate Tuning for Coded Federated
// Dropout", section 3.2, with the decisions of ARCHITECTURE.md where the paper is silent.

#include "subfleet/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
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

std::vector<uint32_t> sample_clients(uint64_t seed, uint32_t round, uint32_t count, uint32_t total) {
  // Floyd's sampling: every set of `count` is equally likely, in memory that does not grow with `total`.
  Random random({.seed = seed, .round = round, .purpose = Purpose::kSampleClients});
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
  const uint32_t number = round_ + 1;
  const uint64_t seed = config_.run.seed;
  RoundReport report{.round = number};

  // 1, 2: who takes part, and with which part of the model.
  const std::vector<uint32_t> clients = sample_clients(seed, number, config_.clients, fleet_.clients());
  const std::vector<SubModel> submodels = draw_submodels(model_, config_.code, seed, number, clients);
  std::vector<Job> jobs;
  const JobMessage down{.model = model_.name, .code = config_.code, .local = config_.local, .weights = {}};
  for (size_t row = 0; row < clients.size(); ++row) {
    jobs.push_back({.client = clients[row],
                    .submodel = &submodels[row],
                    .batch_order = {seed, number, clients[row], Purpose::kBatchOrder}});
    report.bytes_down += encoded_size(down, submodels[row].size());
    report.bytes_up += encoded_size(UpdateMessage{}, submodels[row].size());
  }

  // 3, 4: the clients train; their updates become one partial sum.
  sum_.clear();
  const std::vector<JobReport> reports = fleet_.train(weights_, jobs, config_.local, sum_);
  summarise(reports, report);
  if (report.diverged == reports.size()) {
    throw failure(fmt::format("round {}", number),
                  "every client's training diverged; lower round.client_lr or server.lr and start again");
  }

  // 5: the server steps.
  optimizer_->step(weights_, sum_, pool_);
  if (!all_finite(weights_, pool_)) {
    throw failure(fmt::format("round {}", number),
                  "the weights are no longer finite; lower server.lr and start again");
  }
  round_ = number;
  return report;
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
