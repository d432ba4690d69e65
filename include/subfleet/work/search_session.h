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

// Sees a search and changes nothing of it.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // Before the first step, and as each new one begins: which candidates are tried.
  virtual void on_step(const RateSearch& search) = 0;
  // After every round of the candidates that were `running`.
  virtual void on_round(const RateSearch& search, std::span<const size_t> running, double seconds) = 0;
};

// The configuration of a search that goes on: the saved one after `change`. A search that has begun looks for
// one thing in one way: beside what a run cannot change, nothing of tune.* can. Throws Error, naming the
// first setting.
Config resumed_search(const Config& saved, const std::function<void(Config&)>& change);

// A search for the best server learning rate, or another number, in a folder. `subfleet tune` is such a
// session.
class SearchSession {
 public:
  // Candidates begin from the weights of a safetensors file or the model's own. `now` is the provenance of
  // this process; the fleet outlives the session. begin() or resume() comes next. Throws Error if the fleet's
  // data or the weights do not fit, or if the search cannot be made.
  SearchSession(Config config, Fleet& fleet, Provenance now,
                std::optional<std::filesystem::path> initial = std::nullopt);

  // Begins in a new or empty folder.
  void begin(const std::filesystem::path& folder);
  // Goes on with the search of a folder. Throws Error, before anything is written, if it cannot go on with
  // the session's settings and data.
  void resume(SearchFolder folder);

  const RateSearch& search() const { return search_; }
  const Config& config() const { return config_; }  // with the values of tune.* that were left to us
  const std::filesystem::path& path() const { return folder_->path(); }

  // Searches to the end, or until `stop`, which is asked before every round, and saves how the search stands.
  // Returns whether it is over.
  bool run(SearchObserver& observer, const std::function<bool()>& stop);

  // The winner's run, which goes on in the folder itself. The search has found one, and its session ends
  // here.
  std::unique_ptr<TrainingSession> go_on_with_winner();

 private:
  bool search_on(SearchObserver& observer, const std::function<bool()>& stop);

  Config config_;
  Fleet& fleet_;
  Provenance now_;
  std::optional<std::filesystem::path> initial_;
  RateSearch search_;
  std::optional<SearchFolder> folder_;
};

}  // namespace subfleet
