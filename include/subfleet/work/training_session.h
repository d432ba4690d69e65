#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "subfleet/store/event_file.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/training.h"

namespace subfleet {

// One session of training a run: it begins the run, or goes on with the one of a folder. If it has a folder,
// every round is written to it. `subfleet train`, the winner of `subfleet tune` and Python's Run are such
// sessions.
class TrainingSession final : private RoundObserver {
 public:
  // Begins a run in memory, from the weights of a safetensors file or the model's own. `config` has been
  // validated; `now` is the provenance of this process; the fleet outlives the session.
  TrainingSession(const Config& config, Fleet& fleet, Provenance now,
                  const std::optional<std::filesystem::path>& initial = std::nullopt);

  // Goes on with the run of a folder from its last checkpoint. `config` is the saved one, with what a run
  // can change. Throws Error if the data are not those that the run began with.
  TrainingSession(const Config& config, Fleet& fleet, Provenance now, RunWriter folder);

  // Writes the run to a new or empty folder from here on. Throws Error if it holds something.
  void write_to(const std::filesystem::path& folder);

  Run& run() { return run_; }
  const Run& run() const { return run_; }
  uint64_t bytes() const { return bytes_; }  // exchanged so far, in earlier sessions too
  const Provenance& now() const { return now_; }
  // None: in memory alone.
  std::optional<std::filesystem::path> folder() const;

  // Trains to the last round, or until `stop`, which is asked before every round, and finishes the folder.
  // The observers see each round after the folder has it. Returns whether all rounds are done. Throws
  // Diverged.
  bool train(std::span<RoundObserver* const> observers, const std::function<bool()>& stop);

  // One round, tested where its turn has come.
  RoundRecord step();

  // Goes on from these weights; the optimizer's moments stay. The folder gets a checkpoint, so that a resumed
  // run has them too.
  void set_weights(std::span<const float> weights);

  // The folder's model, its page and a checkpoint. Nothing without a folder.
  void finish();

 private:
  void round_done(Run& run, const RoundRecord& record) override;

  Run run_;
  Provenance now_;
  std::optional<RunWriter> writer_;
  std::optional<EventFile> events_;
  uint64_t bytes_ = 0;
};

}  // namespace subfleet
