#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "fleet.h"
#include "store/event_file.h"
#include "store/run_writer.h"
#include "subfleet/run.h"
#include "subfleet/training.h"

namespace subfleet::python {

namespace nb = nanobind;

// A run, the fleet that it keeps alive and, if it has one, its folder, which is written as `subfleet train`
// writes it. Called without the GIL; calls from several threads, of all runs of one fleet, wait for each
// other.
class BoundRun {
 public:
  // `config` has been validated. The folder must be new or empty.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
           const std::optional<std::filesystem::path>& initial,
           const std::optional<std::filesystem::path>& folder);
  // Goes on with the run of a folder. `before` is the folder's provenance.
  BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
           const Provenance& before);

  Run& run() { return run_; }
  const BoundFleet& fleet() const { return *fleet_; }
  const std::optional<RunWriter>& writer() const { return writer_; }
  uint64_t bytes() const { return bytes_; }  // exchanged so far, by earlier sessions too
  // What is to be said to people: that another device goes on, for instance.
  const std::optional<std::string>& warning() const { return warning_; }

  RoundRecord step();
  Evaluation evaluate();
  void set_weights(std::span<const float> weights);
  // To the last round, or until `stop`; `more` sees each round after the folder. Returns whether all rounds
  // are done.
  bool train(bool progress, RoundObserver* more, const std::function<bool()>& stop);
  // The folder's model and page, and a checkpoint.
  void finish();

 private:
  std::vector<RoundObserver*> writers();

  std::shared_ptr<BoundFleet> fleet_;
  Run run_;
  std::optional<RunWriter> writer_;
  std::optional<EventFile> events_;
  uint64_t bytes_ = 0;  // exchanged before this session
  std::optional<std::string> warning_;
};

}  // namespace subfleet::python
