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

// One session of training a run: it begins a run, or goes on with the run of a folder. If it has a folder, it
// writes every round there. `subfleet train`, the winner of `subfleet tune` and Python's Run are sessions.
class TrainingSession final : private RoundObserver {
 public:
  // Begins a run in memory, with the weights of a safetensors file or the model's own. `config` must be
  // validated; `now` is the provenance of this process; the fleet must outlive the session.
  TrainingSession(const Config& config, Fleet& fleet, Provenance now,
                  const std::optional<std::filesystem::path>& initial = std::nullopt);

  // Goes on with a folder's run from its last checkpoint. `config` is the saved one, plus changes that a run
  // allows. Throws Error if the data are not those that the run began with.
  TrainingSession(const Config& config, Fleet& fleet, Provenance now, RunWriter folder);

  // Before the first round: begins with these weights instead.
  void begin_with(std::span<const float> weights);

  // Writes the run to a new or empty folder from here on. Throws Error if it holds something.
  void write_to(const std::filesystem::path& folder);

  Run& run() { return run_; }
  const Run& run() const { return run_; }
  uint64_t bytes() const { return bytes_; }  // exchanged so far, in earlier sessions too
  const Provenance& now() const { return now_; }
  // Empty if the run is in memory alone.
  std::optional<std::filesystem::path> folder() const;

  // Trains to the last round, or until `stop`, which it asks before every round, and finishes the folder. The
  // observers see each round after it is in the folder. Returns whether all rounds are done. Throws Diverged.
  bool train(std::span<RoundObserver* const> observers, const std::function<bool()>& stop);

  // One round, with a test if one is due.
  RoundRecord step();

  // Goes on with these weights; the optimizer's moments stay. The folder gets a checkpoint, so that a resumed
  // run has them too.
  void set_weights(std::span<const float> weights);

  // Writes the folder's model, page and checkpoint. Does nothing without a folder.
  void finish();

  // Lets go of the folder: another session can go on with it.
  void close();

 private:
  void round_done(Run& run, const RoundRecord& record) override;

  Run run_;
  Provenance now_;
  std::optional<RunWriter> writer_;
  std::optional<EventFile> events_;
  uint64_t bytes_ = 0;
};

}  // namespace subfleet
