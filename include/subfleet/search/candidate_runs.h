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

// The runs of a search's candidates, each in a folder of its own. A round of all that are running is trained
// together; a round that a folder's log knows, from before the search was broken off, is not trained again.
// At any time only those that are running are in memory, and only those and the best have a checkpoint.
class CandidateRuns {
 public:
  // Everything outlives this object.
  CandidateRuns(const Config& config, const SearchFolder& folder, Fleet& fleet, const Provenance& now);

  // One more round of each of search.running(), for search.record().
  std::vector<CandidateRound> next_round(const RateSearch& search);

  // After record(): saves those that go on where their turn has come (run.checkpoint_every) and the best, and
  // gives the others up.
  void settle(const RateSearch& search);

  // A checkpoint of every candidate that is running.
  void checkpoint();

 private:
  struct Entry {
    std::vector<RoundRecord> log;
    std::unique_ptr<Run> run;  // none: it is no longer to be trained
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

// From the first draw of one candidate to that of the next: more rounds than any of them takes.
inline constexpr uint32_t kDrawsApart = 1'000'000;

// The configuration of a search's candidate: the search's own with the value that is tried, and with draws of
// clients, masks and orders of its own. Throws Error if they do not go together.
Config candidate_config(const Config& config, const RateSearch& search, size_t index);

// What a search is told of a candidate's round.
CandidateRound candidate_round(const RoundRecord& record);

}  // namespace subfleet
