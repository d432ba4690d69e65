#include "subfleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "subfleet/error.h"

namespace subfleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongWait = 3600;  // without a deadline, next() is called again after this
constexpr double kShortPause = 10;  // without a deadline, before clients are asked again

// Since `start`, for `seconds` in all.
double seconds_left(Clock::time_point start, double seconds) {
  return seconds - std::chrono::duration<double>(Clock::now() - start).count();
}

bool gave_update(const JobResult& result) {
  return result.outcome == JobOutcome::kTrained || result.outcome == JobOutcome::kDiverged;
}

// The cohorts of one round and what became of their jobs, over all attempts.
class Round {
 public:
  Round(Fleet& fleet, std::span<const Cohort> cohorts, const Patience& patience)
      : fleet_(fleet), cohorts_(cohorts), patience_(patience) {
    for (const Cohort& cohort : cohorts) results.emplace_back(cohort.jobs.size());
  }

  // Gives out every job that has no update yet, and takes what comes back until the deadline.
  void attempt() {
    const Clock::time_point start = Clock::now();
    submit_missing();
    while (!out_.empty()) {
      const double left = patience_.deadline == 0 ? kLongWait : seconds_left(start, patience_.deadline);
      const std::optional<FinishedJob> finished = fleet_.next(std::max(left, 0.0));
      if (!finished && left <= 0) break;  // what has come by then counts
      if (finished) settle(finished->id, finished->result);
    }
    while (!out_.empty()) {
      const JobId id = out_.begin()->first;
      settle(id,
             fleet_.cancel(id, JobOutcome::kLate, fmt::format("no answer within {} s", patience_.deadline)));
    }
  }

  bool enough_replies() const {
    return std::ranges::all_of(results, [&](const std::vector<JobResult>& of_cohort) {
      const auto count = static_cast<double>(std::ranges::count_if(of_cohort, gave_update));
      return count >= patience_.min_replies * static_cast<double>(of_cohort.size());
    });
  }

  // Clients that did not answer get the rest of the deadline to come back; nothing can arrive meanwhile.
  void pause(Clock::time_point start) {
    const double seconds = patience_.deadline == 0 ? kShortPause : patience_.deadline;
    for (double left = seconds_left(start, seconds); left > 0; left = seconds_left(start, seconds))
      static_cast<void>(fleet_.next(left));
  }

  std::vector<std::vector<JobResult>> results;

 private:
  void submit_missing() {
    jobs_.assign(cohorts_.size(), {});
    for (size_t i = 0; i < cohorts_.size(); ++i) {
      std::vector<JobResult*> entries;
      for (size_t job = 0; job < cohorts_[i].jobs.size(); ++job) {
        if (gave_update(results[i][job])) continue;
        jobs_[i].push_back(cohorts_[i].jobs[job]);
        entries.push_back(&results[i][job]);
      }
      if (entries.empty()) continue;
      Cohort missing = cohorts_[i];
      missing.jobs = jobs_[i];
      const uint64_t ticket = fleet_.submit(missing);
      for (size_t job = 0; job < entries.size(); ++job) out_.emplace(JobId{ticket, job}, entries[job]);
    }
  }

  // What moved in earlier attempts moved.
  void settle(const JobId& id, const JobResult& result) {
    const auto found = out_.find(id);
    if (found == out_.end()) throw failure("fleet", "returns a job that it was not given");
    JobResult& entry = *found->second;
    const uint64_t down = entry.bytes_down, up = entry.bytes_up;
    entry = result;
    entry.bytes_down += down;
    entry.bytes_up += up;
    out_.erase(found);
  }

  Fleet& fleet_;
  std::span<const Cohort> cohorts_;
  Patience patience_;
  std::vector<std::vector<Job>> jobs_;  // of this attempt
  std::map<JobId, JobResult*> out_;
};

}  // namespace

Evaluation Fleet::evaluate(ServerState&, uint32_t client) {
  throw bad_request(fmt::format("client {}", client),
                    "cannot be tested alone by this fleet, but by a local one "
                    "on cpu or reference");
}

std::vector<std::vector<JobResult>> Fleet::train(std::span<const Cohort> cohorts) {
  const Patience limits = patience();
  Round round(*this, cohorts, limits);
  try {
    for (int attempt = 1;; ++attempt) {
      const Clock::time_point start = Clock::now();
      round.attempt();
      if (round.enough_replies()) return std::move(round.results);
      if (attempt == kAttempts) break;
      round.pause(start);
    }
  } catch (...) {
    abandon();
    throw;
  }
  throw failure(
      "round", fmt::format("less than round.min_replies = {} of the clients were trained, after {} attempts; "
                           "start again when more of them are back, or lower it",
                           limits.min_replies, kAttempts));
}

}  // namespace subfleet
