#include "subfleet/search/candidate_runs.h"

#include <fmt/format.h>

#include <utility>

#include "subfleet/base/stopwatch.h"
#include "subfleet/error.h"
#include "subfleet/training.h"

namespace subfleet {

CandidateRound candidate_round(const RoundRecord& record) {
  return {.accuracy = record.train_accuracy_median,
          .loss = record.train_loss,
          .bytes = record.bytes_down + record.bytes_up};
}

Config candidate_config(const Config& config, const RateSearch& search, size_t index) {
  const Candidate& candidate = search.candidates()[index];
  Config own = config;
  set(own, config.tune.parameter, fmt::format("{}", candidate.value));
  // Halving compares runs that differ in the value alone.
  if (search.plan().horizon == 0) own.run.first_draw += static_cast<uint32_t>(index) * kDrawsApart;
  validate(own);
  return own;
}

CandidateRuns::CandidateRuns(const Config& config, const SearchFolder& folder, Fleet& fleet,
                             const Provenance& now)
    : config_(config), folder_(folder), fleet_(fleet), now_(now) {}

CandidateRuns::Entry CandidateRuns::open(const RateSearch& search, size_t index) const {
  const std::filesystem::path folder = folder_.candidate(search.candidates()[index].value);
  Entry entry;
  if (RunWriter::has_begun(folder)) entry.writer.emplace(RunWriter::reopen(folder));
  if (entry.writer && !RunWriter::can_go_on(folder)) {  // it was given up, or moved
    entry.log = entry.writer->log();
    return entry;
  }
  const Config config = candidate_config(config_, search, index);
  entry.run = std::make_unique<Run>(config, fleet_);
  if (entry.writer) {
    entry.writer->restore(*entry.run, now_);
    entry.log = entry.writer->log();
  } else {
    if (const auto weights = folder_.initial_weights(entry.run->model())) entry.run->set_weights(*weights);
    entry.writer.emplace(RunWriter::begin(folder, *entry.run, now_));
  }
  entry.events.emplace(folder, entry.log);
  return entry;
}

std::vector<CandidateRound> CandidateRuns::next_round(const RateSearch& search) {
  const std::vector<size_t> running = search.running();
  std::vector<Entry*> behind;
  for (const size_t index : running) {
    if (!entries_.contains(index)) entries_.emplace(index, open(search, index));
    Entry& entry = entries_.at(index);
    if (entry.log.size() > search.candidates()[index].rounds.size()) continue;
    if (!entry.run) {
      throw bad_request(folder_.candidate(search.candidates()[index].value).string(),
                        "its checkpoint or a part of its log is gone; start the search again");
    }
    behind.push_back(&entry);
  }
  if (!behind.empty()) train(behind);
  std::vector<CandidateRound> rounds;
  for (const size_t index : running) {
    rounds.push_back(candidate_round(entries_.at(index).log[search.candidates()[index].rounds.size()]));
  }
  return rounds;
}

void CandidateRuns::train(const std::vector<Entry*>& entries) {
  const Stopwatch watch;
  std::vector<Run*> runs;
  for (const Entry* entry : entries) runs.push_back(entry->run.get());
  const std::vector<SteppedRound> rounds = step_together(runs, fleet_);
  const double seconds = watch.seconds() / static_cast<double>(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = *entries[i];
    entry.log.push_back(rounds[i].record);
    measure_round(*entry.run, entry.log.back(), seconds);
    entry.writer->append(entry.log.back());
    entry.events->append(entry.log.back());
  }
}

void CandidateRuns::settle(const RateSearch& search) {
  for (size_t index = 0; index < search.candidates().size(); ++index) {
    const Candidate& candidate = search.candidates()[index];
    const bool running = candidate.fate == Fate::kRunning;
    const bool kept = index == search.best() || candidate.fate == Fate::kWaiting;
    const bool its_turn = candidate.round_count() % config_.run.checkpoint_every == 0;
    if (const auto found = entries_.find(index); found != entries_.end()) {
      Entry& entry = found->second;
      const bool in_step = entry.run && entry.run->round() == candidate.round_count();
      if (in_step && (running ? its_turn : kept)) entry.writer->checkpoint(*entry.run);
      if (!running) entries_.erase(found);
    }
    if (!running && !kept) RunWriter::give_up(folder_.candidate(candidate.value));
  }
}

void CandidateRuns::checkpoint() {
  for (auto& [index, entry] : entries_) {
    if (entry.run) entry.writer->checkpoint(*entry.run);
  }
}

}  // namespace subfleet
