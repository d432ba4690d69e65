#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "subfleet/store/folder_lock.h"
#include "subfleet/store/provenance.h"
#include "subfleet/store/round_log.h"
#include "subfleet/training.h"

namespace subfleet {

// The folder of a run that is being trained: config.toml, provenance.json, rounds.jsonl,
// checkpoint.safetensors and, at the end, model.safetensors and report.html. Locked while this object lives,
// so that two processes never write to one run. However the process ends, the folder can be resumed from its
// last checkpoint.
class RunWriter final : public RoundObserver {
 public:
  static constexpr auto kPage = "report.html";  // made by the program that shows the run

  // Begins a run in a new or empty folder; throws Error if it holds one already. The provenance is of this
  // process.
  static RunWriter begin(const std::filesystem::path& folder, const Run& run, const Provenance& now);

  // Opens the run of a folder again; throws Error if there is no run. Call restore() next.
  static RunWriter reopen(const std::filesystem::path& folder);

  // Whether a folder holds a run, and whether that run can be resumed: it was neither given up nor moved.
  static bool has_begun(const std::filesystem::path& folder);
  static bool can_go_on(const std::filesystem::path& folder);

  // The round of the trained model. Empty if there is no model, or if it is not of the log's last round, or
  // if a checkpoint is kept and has another round.
  static std::optional<uint32_t> model_round(const std::filesystem::path& folder);
  // Whether a folder's run has such a model of its last round (run.rounds).
  static bool is_finished(const std::filesystem::path& folder);

  // What the run of a folder came from, its settings as saved, and its rounds.
  static Provenance provenance(const std::filesystem::path& folder);
  static Config config(const std::filesystem::path& folder);
  static std::vector<RoundRecord> log(const std::filesystem::path& folder);

  // The trained weights of a run that is finished or was stopped. Throws Error before that, and if the run
  // has gone on since.
  static std::vector<float> weights(const std::filesystem::path& folder, const ModelSpec& model);

  // Leaves only the log and the settings of a run, which then cannot be resumed.
  static void give_up(const std::filesystem::path& folder);

  // Makes the run of one folder the run of another, existing folder; only its log and its settings stay
  // behind. If the process ends midway, doing it again completes it.
  static void move(const std::filesystem::path& from, const std::filesystem::path& to);

  ~RunWriter() override;
  RunWriter(RunWriter&& other) noexcept;
  RunWriter& operator=(RunWriter&&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  Config config() const { return config(folder_); }
  std::vector<RoundRecord> log() const { return log(folder_); }

  // Puts the run, made from config(), into the state of the last checkpoint and cuts the log back to it.
  // Returns the bytes exchanged so far. Saves the run's configuration, which may differ from config() in what
  // a run can change. Throws Error if the data are not those that the run began with.
  uint64_t restore(Run& run, const Provenance& now);

  // Throws Error if the run of a folder can be resumed and has done more than `rounds` rounds.
  static void check_rounds(const std::filesystem::path& folder, uint32_t rounds);

  // Appends a line to the log, and saves a checkpoint if one is due (run.checkpoint_every).
  void round_done(Run& run, const RoundRecord& record) override;
  void append(const RoundRecord& record);
  void checkpoint(const Run& run);
  // A checkpoint of weights that came from elsewhere, between two rounds: a model of the round is old.
  void replace_weights(const Run& run);

  // Writes model.safetensors, and a last checkpoint unless this round has one.
  void finish(const Run& run);
  // Writes model.safetensors alone, which takes a third of the space or less. The run cannot be resumed then.
  void finish_for_good(const Run& run);

 private:
  void remove_model();
  void save_model(const Run& run);
  explicit RunWriter(std::filesystem::path folder);
  std::filesystem::path file(const char* name) const { return folder_ / name; }

  std::filesystem::path folder_;
  FolderLock lock_;
  int log_ = -1;
  uint32_t saved_round_ = 0;  // the last checkpoint's
  bool has_model_ = false;    // whether model.safetensors exists; it is outdated as soon as the log grows
};

}  // namespace subfleet
