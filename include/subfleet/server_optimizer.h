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

// Whether its step looks at the results' squared norms.
bool wants_squared_norms(std::string_view optimizer);

std::vector<std::string> server_optimizer_names();
double default_server_lr(std::string_view optimizer);

}  // namespace subfleet
