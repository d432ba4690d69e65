#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "subfleet/round.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/server_state.h"

namespace subfleet {

// Who runs the jobs: this process (src/fleet/local), MPI ranks (src/fleet/mpi), and whatever else can hold
// clients.
class Fleet {
 public:
  virtual ~Fleet() = default;

  virtual uint32_t clients() const = 0;
  virtual uint32_t classes() const = 0;
  virtual Shape input() const = 0;
  // A hash of all the data, for telling whether they are still the same; and of what they are.
  virtual uint64_t data_fingerprint() const = 0;

  // A run's state where the server's arithmetic is done: weights and moments at zero.
  virtual std::unique_ptr<ServerState> make_state(const ModelSpec& model,
                                                  const OptimizerOptions& options) = 0;

  // Has every job of every cohort trained, adds the updates to the states' sums and returns one result per
  // job, in order. A client that fails is a result; only what is wrong on this side, such as data at hand
  // that do not fit the model, is an exception.
  virtual std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts) = 0;

  // How a state's whole model does on the fleet's test examples.
  virtual Evaluation evaluate(ServerState& state) = 0;

  // What moving sums and weights between machines has cost so far, for people; empty where nothing moves.
  virtual std::string traffic() const { return {}; }
};

}  // namespace subfleet
