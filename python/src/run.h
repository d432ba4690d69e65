#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "fleet.h"
#include "subfleet/work/training_session.h"

namespace subfleet::python {

namespace nb = nanobind;

// A training session and the fleet that it keeps alive. Called without the GIL. Calls of all runs of one
// fleet, from any thread, wait for each other.
class BoundRun {
 public:
  // `config` has been validated. The folder must be new or empty.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
           const std::optional<std::filesystem::path>& initial,
           const std::optional<std::filesystem::path>& folder);
  // Goes on with the run of a folder. `before` is the folder's provenance.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
           const Provenance& before);

  Run& run() { return session_.run(); }
  const BoundFleet& fleet() const { return *fleet_; }
  std::optional<std::filesystem::path> folder() const { return session_.folder(); }
  uint64_t bytes() const { return session_.bytes(); }
  // A message for people, for instance that another device goes on.
  const std::optional<std::string>& warning() const { return warning_; }

  RoundRecord step();
  Evaluation evaluate();
  void set_weights(std::span<const float> weights);
  // Trains to the last round, or until `stop`. `more` sees each round after it is in the folder. Returns
  // whether all rounds are done.
  bool train(bool progress, RoundObserver& more, const std::function<bool()>& stop);
  // Writes the folder's model and page, and a checkpoint.
  void finish();
  // Lets go of the folder; the run trains no further.
  void close();
  // Every round that the run has done, in earlier sessions too.
  const std::vector<RoundRecord>& records() const { return records_; }

 private:
  void check_open() const;

  std::shared_ptr<BoundFleet> fleet_;
  TrainingSession session_;
  std::vector<RoundRecord> records_;
  bool closed_ = false;
  std::optional<std::string> warning_;
};

}  // namespace subfleet::python
