#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/round.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/server_state.h"

namespace subfleet {

// A job that a fleet was given: its cohort's ticket, and its place among the cohort's jobs.
struct JobId {
  uint64_t ticket = 0;
  size_t job = 0;
  bool operator==(const JobId&) const = default;
  bool operator<(const JobId& other) const {
    return ticket != other.ticket ? ticket < other.ticket : job < other.job;
  }
};

struct FinishedJob {
  JobId id;
  JobResult result;
};

// How long a round waits for its clients.
struct Patience {
  double deadline = 0;     // seconds that they have; 0: as long as they take
  double min_replies = 0;  // the share of each cohort that has to give an update
};

// Who runs the jobs: this process (src/fleet/local), MPI ranks (src/fleet/mpi), devices (src/fleet/remote),
// and whatever else can hold clients. Jobs go out with submit() and come back from next() in any order;
// train() is a whole round of them. Called by one thread at a time.
class Fleet {
 public:
  static constexpr int kAttempts = 3;  // of train()

  virtual ~Fleet() = default;

  virtual uint32_t clients() const = 0;
  virtual uint32_t classes() const = 0;
  virtual Shape input() const = 0;
  // A hash of all the data, to detect that they have changed.
  virtual uint64_t data_fingerprint() const = 0;

  // A run's state where the server's arithmetic is done: weights and moments at zero.
  virtual std::unique_ptr<ServerState> make_state(const ModelSpec& model,
                                                  const OptimizerOptions& options) = 0;

  // What a run of this model begins with: by default the model's own.
  virtual std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed) const {
    return subfleet::initial_weights(model, seed);
  }

  // Gives out the jobs of a cohort and returns its ticket. What the cohort points to must hold until each of
  // its jobs has come back or was cancelled; by then the updates of the trained are in its state's sum.
  virtual uint64_t submit(const Cohort& cohort) = 0;

  // A job that has ended; empty if there is none. A fleet of devices waits for at most `seconds`. A fleet
  // that computes in this process (BatchFleet) ignores them: it trains everything that was submitted, however
  // long that takes, and then has every result. A client's failure is a result. Only a fault on this side,
  // such as local data that do not fit the model, is an exception.
  virtual std::optional<FinishedJob> next(double seconds) = 0;

  // Stops waiting for a job that next() has not returned, and will not. It ends with this outcome and has no
  // part in the sum; or with its own, if the fleet has its result, as of a whole batch once it is trained.
  virtual JobResult cancel(const JobId& id, JobOutcome outcome, const std::string& why) = 0;

  // Forgets every job that is out, and their updates: after an exception.
  virtual void abandon() = 0;

  // How long train() waits.
  virtual Patience patience() const { return {}; }

  // Has every job of every cohort trained, adds the updates to the states' sums and returns one result per
  // job, in order. At the deadline it goes on without the silent ones. If fewer than min_replies gave an
  // update, the missing are asked again for the same jobs once the deadline has passed, and the sums keep
  // what they have; after kAttempts it throws Error.
  std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts);

  // How a state's whole model does on the fleet's test examples.
  virtual Evaluation evaluate(ServerState& state) = 0;
  // The same on one client's own test examples; throws Error where the fleet cannot.
  virtual Evaluation evaluate(ServerState& state, uint32_t client);

  // From here on train() and evaluate() look at the flag now and then, and throw Interrupted while it is set.
  // The flag outlives the fleet, or the next call. A fleet that cannot be stopped ends what it does first.
  virtual void stop_on(const std::atomic<bool>& flag) { static_cast<void>(flag); }
  virtual bool can_be_stopped() const { return false; }

  // What moving sums and weights between machines has cost so far, for people; empty if nothing moves.
  virtual std::string traffic() const { return {}; }
};

}  // namespace subfleet
