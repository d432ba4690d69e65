#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "subfleet/rate_search.h"
#include "subfleet/run.h"
#include "subfleet/search/search_folder.h"
#include "subfleet/store/event_file.h"
#include "subfleet/store/round_log.h"
#include "subfleet/store/run_writer.h"

namespace subfleet {

// The runs of a search's candidates, each in its own folder. All running candidates train a round together. A
// round that a folder's log already has, from before an interruption, is not trained again. Only running
// candidates are in memory; only they and the best have a checkpoint.
class CandidateRuns {
 public:
  // Everything passed in must outlive this object.
  CandidateRuns(const Config& config, const SearchFolder& folder, Fleet& fleet, const Provenance& now);

  // Trains one more round of each of search.running(); the result is for search.record().
  std::vector<CandidateRound> next_round(const RateSearch& search);

  // Call it after record(). Saves the candidates that go on, if a checkpoint is due (run.checkpoint_every),
  // and the best one; gives the others up.
  void settle(const RateSearch& search);

  // Saves a checkpoint of every running candidate.
  void checkpoint();

 private:
  struct Entry {
    std::vector<RoundRecord> log;
    std::unique_ptr<Run> run;  // null: no longer trained
    std::optional<RunWriter> writer;
    std::optional<EventFile> events;
  };
  Entry open(const RateSearch& search, size_t index) const;
  void train(const std::vector<Entry*>& entries);

  const Config& config_;
  const SearchFolder& folder_;
  Fleet& fleet_;
  const Provenance& now_;
  std::map<size_t, Entry> entries_;  // by the candidate's index
};

// The distance between the first draws of neighbouring candidates: more rounds than any of them takes.
inline constexpr uint32_t kDrawsApart = 1'000'000;

// The configuration of a search's candidate: the search's own, with the value that is tried and with its own
// draws of clients, masks and orders. Throws Error if they do not go together.
Config candidate_config(const Config& config, const RateSearch& search, size_t index);

// What a search needs to know about a candidate's round.
CandidateRound candidate_round(const RoundRecord& record);

}  // namespace subfleet
