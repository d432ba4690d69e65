#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/partial_sum.h"
#include "subfleet/round.h"

namespace subfleet {

class ThreadPool;

struct OptimizerOptions {
  std::string optimizer = "fedadam";
  double lr = 0;        // what a round's rate is made from (ServerRound); 0: the optimizer's own default
  double beta1 = 0.9;   // momentum
  double beta2 = 0.99;  // second moment (fedadam, fedyogi)
  double tau = 1e-3;    // adaptivity; fedexp: what keeps its divisor from 0
  std::string mean =
      "holders";  // a weight's update is averaged over those who held it, or over `all` clients
  std::string unheld =
      "freeze";        // a weight nobody held: `freeze` keeps it and its moments, `decay` sees a zero update
  double average = 0;  // decay per round of the exponential mean of the weights; 0: none is kept
};

// The moment that is the mean of the weights, where one is kept; always the first.
inline constexpr std::string_view kAverage = "average";

// What a round leaves of the mean so far, so that after t rounds it is that of t weights:
// (decay - decay^t) / (1 - decay^t).
double kept_average(double decay, uint32_t round);

// Steps the whole model's weights from a round's mean updates, on the host. A new optimizer is one header in
// src/optimizers and a word in rules.h, for every device.
class ServerOptimizer {
 public:
  virtual ~ServerOptimizer() = default;

  // False: a weight is no longer finite.
  [[nodiscard]] virtual bool step(std::span<float> weights, const PartialSum& updates,
                                  const ServerRound& round, ThreadPool& pool) = 0;

  // What it keeps between rounds, for checkpoints: a name and one value per weight each.
  struct MutableMoment {
    std::string name;
    std::span<float> values;
  };
  virtual std::vector<MutableMoment> moments() { return {}; }
};

// The optimizer of options.optimizer for a model of so many weights; throws Error naming the nearest. Its
// rate is that of each round, not options.lr.
std::unique_ptr<ServerOptimizer> make_server_optimizer(const OptimizerOptions& options, size_t weights);

// A server optimizer of the program's own, which steps on the host. It is called by one thread at a time for
// each run.
class OwnOptimizer {
 public:
  virtual ~OwnOptimizer() = default;
  virtual std::string name() const = 0;  // in server.optimizer
  virtual double default_lr() const = 0;
  virtual std::vector<std::string> moments() const = 0;  // what it keeps per weight, first 0
  // Moves the weights by `mean`, each weight's mean update over those who held it, 0 where nobody did. Where
  // server.unheld = "freeze", what it does to weights and moments that nobody held is undone.
  virtual void step(std::span<float> weights, std::span<const float> mean,
                    std::span<const std::span<float>> moments, double lr) const = 0;
};

// Adds one, which stays until the program ends. Throws Error if its name is empty or taken. A program that
// resumes the run has to register it too.
void register_server_optimizer(std::shared_ptr<const OwnOptimizer> optimizer);
std::shared_ptr<const OwnOptimizer> own_optimizer(std::string_view name);  // null: there is none

// Whether its step looks at the results' squared norms.
bool wants_squared_norms(std::string_view optimizer);

std::vector<std::string> server_optimizer_names();
double default_server_lr(std::string_view optimizer);

}  // namespace subfleet
