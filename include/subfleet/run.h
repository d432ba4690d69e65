#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/error.h"
#include "subfleet/fleet.h"

namespace subfleet {

// How many jobs of a round ended in which way.
class OutcomeCounts {
 public:
  uint32_t& operator[](JobOutcome outcome) { return counts_[static_cast<size_t>(outcome)]; }
  uint32_t operator[](JobOutcome outcome) const { return counts_[static_cast<size_t>(outcome)]; }
  uint32_t left_out() const {
    return std::accumulate(counts_.begin(), counts_.end(), 0u) - (*this)[JobOutcome::kTrained];
  }
  bool operator==(const OutcomeCounts&) const = default;

 private:
  std::array<uint32_t, kJobOutcomes.size()> counts_{};
};

// How values spread: the lowest, the quartiles and the highest.
using Quartiles = std::array<double, 5>;

// What one round did, as the log tells it.
struct RoundRecord {
  uint32_t round = 0;  // counted from 1
  uint64_t bytes_down = 0, bytes_up = 0;
  double train_loss = 0;             // mean over the examples of the round
  double train_accuracy_median = 0;  // over its clients
  OutcomeCounts outcomes = {};
  double seconds = 0;                                                            // wall time of the round
  std::optional<double> test_accuracy = std::nullopt, test_loss = std::nullopt;  // where it was evaluated
  std::optional<Quartiles> train_accuracies = std::nullopt;  // of the clients; empty in older logs
  std::vector<std::pair<std::string, double>> metrics = {};  // run.metrics, where it was evaluated
  // Where a schedule changes it:
  std::optional<double> server_rate = std::nullopt, client_rate = std::nullopt;
};

// Nothing more can be learnt: every client that answered diverged, or the weights are not finite. The run
// is over.
class Diverged : public Error {
 public:
  Diverged(const Error& why, RoundRecord last) : Error(why), last_(std::move(last)) {}
  const RoundRecord& last() const { return last_; }  // the round that ended it

 private:
  RoundRecord last_;
};

struct ClientResult {
  uint32_t client = 0;
  JobResult result;
};

class Run;
using Metric = std::function<double(Run&)>;

// Adds a figure of the program's own, which run.metrics can name: it is measured where a run is tested, and
// logged. It stays until the program ends. Throws Error if the name is empty, taken or no plain word.
void register_metric(const std::string& name, Metric metric);

// The metrics that run.metrics names, in order. Throws Error for one that is not registered.
std::vector<std::pair<std::string, Metric>> metrics_of(const Config& config);

// One federated training: the global weights, the optimizer's state, the round number and the seed. The same
// configuration and initial weights give the same bits, whatever runs the jobs.
class Run {
 public:
  // Begins at round 0 with the model's initial weights. `config` has been validated; the fleet outlives the
  // run. Throws Error if the fleet's data do not fit the model or the round.
  Run(const Config& config, Fleet& fleet);

  // One round, as in the design: sample, draw books, gather, train, merge, step. Throws Diverged.
  RoundRecord step();

  // The two halves of step(), for callers that train the rounds of several runs at once: begin_round()
  // returns what is to be trained, and end_round() takes its results and does the server's part. The run owns
  // the cohort, which is valid until end_round().
  Cohort begin_round();
  RoundRecord end_round(std::span<const JobResult> results);

  Evaluation evaluate() { return fleet_.evaluate(*state_); }
  Evaluation evaluate(uint32_t client) { return fleet_.evaluate(*state_, client); }

  // Fleet::stop_on() of its fleet.
  void stop_on(const std::atomic<bool>& flag) { fleet_.stop_on(flag); }
  bool can_be_stopped() const { return fleet_.can_be_stopped(); }

  uint32_t round() const { return round_; }  // rounds done
  // Who took part in the last round, and what became of each.
  std::span<const ClientResult> clients_of_round() const { return clients_; }
  const Config& config() const { return config_; }
  const ModelSpec& model() const { return model_; }
  std::span<const float> weights() const { return state_->weights(); }
  std::span<const float> tested_weights() const { return state_->tested_weights(); }  // what is saved
  std::vector<Moment> moments() const { return state_->moments(); }

  // Start from given weights, or go on from a saved state; moments in the order of moments().
  void set_weights(std::span<const float> weights) { state_->set_weights(weights); }
  void restore(uint32_t round, std::span<const float> weights, std::span<const std::vector<float>> moments);

 private:
  Config config_;
  Fleet& fleet_;
  ModelSpec model_;
  std::unique_ptr<ServerState> state_;
  uint32_t round_ = 0;
  std::vector<ClientResult> clients_;

  // Who takes part in a round, and with which part of the model.
  struct Draw {
    uint32_t number = 0;
    std::vector<uint32_t> clients;
    std::vector<SubModel> submodels;
  };
  std::future<Draw> start_draw(uint32_t number) const;

  // Of the round that has begun.
  Draw draw_;
  std::vector<Job> jobs_;
  std::future<Draw> next_draw_;  // made while the clients train
};

// A round of one of several runs. If it diverged, its record has an accuracy and a loss that are not numbers.
struct SteppedRound {
  RoundRecord record;
  std::string diverged = {};  // what Diverged says; empty: it did not
};

// One round of every run, their jobs trained together by the fleet that they share: the same as a step() of
// each.
std::vector<SteppedRound> step_together(std::span<Run* const> runs, Fleet& fleet);

// `count` different clients of `total` in that draw, in the order in which they get the rows of the code
// books.
std::vector<uint32_t> sample_clients(uint64_t seed, uint32_t draw, uint32_t count, uint32_t total);

// Which draw of clients, masks and orders a round uses: its number, or a later one (run.first_draw).
uint32_t draw_of_round(const Config& config, uint32_t round);

// Throws Error if clients with these data cannot train the model, or if there are too few for a round.
void check_fits(const Config& config, const ModelSpec& model, uint32_t clients, const Shape& input,
                uint32_t classes);

}  // namespace subfleet
