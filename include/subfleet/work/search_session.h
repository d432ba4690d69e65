#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "subfleet/fleet.h"
#include "subfleet/rate_search.h"
#include "subfleet/search/search_folder.h"
#include "subfleet/work/training_session.h"

namespace subfleet {

// Sees a search without changing it.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // Before each step, including the first: which candidates it tries.
  virtual void on_step(const RateSearch& search) = 0;
  // After every round of the candidates in `running`.
  virtual void on_round(const RateSearch& search, std::span<const size_t> running, double seconds) = 0;
};

// The configuration of a search that goes on: the saved one after `change`. A search that has begun looks for
// one thing in one way: beside what a run cannot change, nothing of tune.* can. Throws Error, naming the
// first setting.
Config resumed_search(const Config& saved, const std::function<void(Config&)>& change);

// A search in a folder for the best server learning rate, or another number. `subfleet tune` is one.
class SearchSession {
 public:
  // Candidates begin with the weights of a safetensors file or the model's own. `now` is the provenance of
  // this process; the fleet must outlive the session. Call begin() or resume() next. Throws Error if the
  // fleet's data or the weights do not fit, or if the search is impossible.
  SearchSession(Config config, Fleet& fleet, Provenance now,
                std::optional<std::filesystem::path> initial = std::nullopt);

  // Begins in a new or empty folder.
  void begin(const std::filesystem::path& folder);
  // Goes on with a folder's search. Throws Error, before writing anything, if it cannot go on with the
  // session's settings and data.
  void resume(SearchFolder folder);

  const RateSearch& search() const { return *search_; }
  const Config& config() const { return config_; }  // with values for the tune.* settings that were left open
  const std::filesystem::path& path() const { return folder_->path(); }

  // Searches to the end, or until `stop`, which it asks before every round. Saves the state of the search.
  // Returns whether the search is over.
  bool run(SearchObserver& observer, const std::function<bool()>& stop);

  // The winner's run, which goes on in the folder itself. The search must have a winner; its session ends
  // here.
  std::unique_ptr<TrainingSession> go_on_with_winner();

 private:
  bool search_on(SearchObserver& observer, const std::function<bool()>& stop);

  Config config_;
  Fleet& fleet_;
  Provenance now_;
  std::optional<std::filesystem::path> initial_;
  std::unique_ptr<RateSearch> search_;
  std::optional<SearchFolder> folder_;
};

}  // namespace subfleet
