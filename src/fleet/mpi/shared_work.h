#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fleet/mpi/communicator.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"

namespace subfleet::mpi {

// What rank 0 asks the others to do.
enum class Command : uint32_t {
  kOpen,      // open the data
  kTrain,     // train a share of some cohorts' jobs
  kEvaluate,  // do a share of a test
  kStop,
};

// Which rank trains which job: the largest jobs first, each to the rank with the least work so far. `costs`
// has one value per job.
std::vector<uint32_t> deal_jobs(std::span<const double> costs, uint32_t ranks);

// The chunks of a test that a rank takes: [first, second).
std::pair<size_t, size_t> chunk_share(size_t chunks, uint32_t rank, uint32_t ranks);

// Rank 0's side of a round and of a test: does its own share and combines all shares. Throws Error with the
// message of a rank that failed.
std::vector<std::vector<JobResult>> lead_training(const Communicator& ranks, LocalFleet& own,
                                                  std::span<const Cohort> cohorts);
Evaluation lead_evaluation(const Communicator& ranks, LocalFleet& own, ServerState& state);

// The other ranks' side; they have the same data. Rank 0 sends what they need to know, including the weights.
// States are made when first needed, and reused.
class Worker {
 public:
  Worker(const Communicator& ranks, LocalFleet& own) : ranks_(ranks), own_(own) {}
  void train();
  void evaluate();

 private:
  struct Share;
  ServerState& state_for(size_t slot, const ModelSpec& model);

  const Communicator& ranks_;
  LocalFleet& own_;
  std::vector<std::unique_ptr<ServerState>> states_;  // one per cohort of a round, in their order
};

// The kind and message of what `work` throws, for agree(); empty if it does not throw.
std::string fault_of(const std::function<void()>& work);

// A rank has reported an error. All ranks are ready for the next command.
class RankFailed : public Error {
 public:
  explicit RankFailed(const Error& error) : Error(error) {}
};

// Whether every rank can go on. `mine` is this rank's error; empty if all is well. If not, throws RankFailed
// on rank 0, with the message of the first rank that failed.
bool agree(const Communicator& ranks, const std::string& mine);

}  // namespace subfleet::mpi
