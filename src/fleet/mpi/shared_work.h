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

// What rank 0 asks the others for.
enum class Command : uint32_t {
  kOpen,      // the data
  kTrain,     // a share of some cohorts' jobs
  kEvaluate,  // a share of a test
  kStop,
};

// Which rank trains which job: each goes to the rank with the least to do so far, the largest first. `costs`
// has one value per job.
std::vector<uint32_t> deal_jobs(std::span<const double> costs, uint32_t ranks);

// The chunks of a test that a rank takes: [first, second).
std::pair<size_t, size_t> chunk_share(size_t chunks, uint32_t rank, uint32_t ranks);

// Rank 0's side of a round and of a test: its own share, and all shares put together. Throws Error with the
// words of a rank that failed.
std::vector<std::vector<JobResult>> lead_training(const Communicator& ranks, LocalFleet& own,
                                                  std::span<const Cohort> cohorts);
Evaluation lead_evaluation(const Communicator& ranks, LocalFleet& own, ServerState& state);

// The other side, on ranks that have the same data. What they need to know, weights included, comes from
// rank 0; the states are made when they are first needed and used again.
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
  std::vector<std::unique_ptr<ServerState>> states_;  // of the cohorts of a round, by their order
};

// What `work` throws, its kind and its words, for agree(); empty if it does not.
std::string fault_of(const std::function<void()>& work);

// A rank has said why it cannot go on; all of them are ready for the next command.
class RankFailed : public Error {
 public:
  explicit RankFailed(const Error& error) : Error(error) {}
};

// Whether every rank can go on; `mine` is this rank's fault, empty if all is well. Throws RankFailed on rank
// 0 if not, with the words of the first that cannot.
bool agree(const Communicator& ranks, const std::string& mine);

}  // namespace subfleet::mpi
