#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fleet.h"
#include "subfleet/work/training_session.h"

namespace subfleet::python {

namespace nb = nanobind;

// A training session and the fleet that it keeps alive. Called without the GIL. Calls of all runs of one
// fleet, from any thread, wait for each other.
class BoundRun {
 public:
  // `config` has been validated. The run begins with the weights of a file or with those given, if there are
  // any, else with the model's own. The folder must be new or empty.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
           const std::optional<std::filesystem::path>& initial_file, std::span<const float> initial_weights,
           const std::optional<std::filesystem::path>& folder);
  // Goes on with the run of a folder. `before` is the folder's provenance.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
           const Provenance& before);

  Run& run() { return session_.run(); }
  const BoundFleet& fleet() const { return *fleet_; }
  const std::optional<std::filesystem::path>& folder() const { return folder_; }
  uint64_t bytes() const { return session_.bytes(); }
  // A message for people, for instance that another device goes on.
  const std::optional<std::string>& warning() const { return warning_; }

  // What these do waits for the fleet, and throws Interrupted once the flag is set.
  RoundRecord step(const std::atomic<bool>& flag);
  Evaluation evaluate(std::optional<uint32_t> client, const std::atomic<bool>& flag);
  void set_weights(std::span<const float> weights, const std::atomic<bool>& flag);
  // Trains to the last round, or until `stop` or close(). `more` sees each round after it is in the folder.
  // Returns whether all rounds are done.
  bool train(bool progress, RoundObserver& more, const std::function<bool()>& stop,
             const std::atomic<bool>& flag);
  // Writes the folder's model and page, and a checkpoint.
  void finish(const std::atomic<bool>& flag);
  // Lets go of the folder; the run trains no further.
  void close(const std::atomic<bool>& flag);
  bool is_closed() const { return closed_; }
  // Every round that the run has done, in earlier sessions too. From any thread.
  std::vector<RoundRecord> records() const;

 private:
  class RecordKeeper;

  void check_open() const;
  std::unique_lock<std::recursive_timed_mutex> turn(const std::atomic<bool>& flag);
  void keep(const RoundRecord& record);

  std::shared_ptr<BoundFleet> fleet_;
  TrainingSession session_;
  std::optional<std::filesystem::path> folder_;
  mutable std::mutex keeping_;  // of the records
  std::vector<RoundRecord> records_;
  std::atomic<bool> closed_{false};
  std::optional<std::string> warning_;
};

}  // namespace subfleet::python
