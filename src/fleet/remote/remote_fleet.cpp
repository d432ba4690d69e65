#include "subfleet/fleet/remote/remote_fleet.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {

std::string_view kind_name(MessageKind kind) {
  switch (kind) {
    case MessageKind::kTrain:
      return "train";
  }
  throw failure("transport", "no such kind of message");
}

RemoteFleet::RemoteFleet(Transport& transport, LocalFleet& here, const RemoteOptions& options)
    : transport_(transport), here_(here), options_(options) {}

uint64_t RemoteFleet::submit(const Cohort& cohort) {
  const uint64_t ticket = tickets_++;
  RemoteCohort& jobs = open_.try_emplace(ticket, cohort, texts_.of(*cohort.model)).first->second;
  jobs.out = cohort.jobs.size();
  for (size_t job = 0; job < cohort.jobs.size(); ++job) {
    transport_.send({.number = messages_,
                     .kind = MessageKind::kTrain,
                     .client = cohort.jobs[job].client,
                     .message = jobs.message(job)});
    out_.emplace(messages_++, JobId{ticket, job});
  }
  return ticket;
}

std::optional<FinishedJob> RemoteFleet::next(double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (double left = seconds;;) {
    const std::optional<Arrival> arrival = transport_.next(left);
    if (!arrival) return std::nullopt;
    if (arrival->number >= messages_) throw failure("transport", "answers a message that was not sent");
    if (const auto job = out_.find(arrival->number); job != out_.end())
      return end(job, result_of(job->second, *arrival));
    // A second answer is not looked at.
    left = std::max(0.0, seconds - std::chrono::duration<double>(Clock::now() - start).count());
  }
}

JobResult RemoteFleet::result_of(const JobId& id, const Arrival& arrival) {
  switch (arrival.kind) {
    case Arrival::Kind::kReply:
      return open_.at(id.ticket).judge(id.job, arrival.reply);
    case Arrival::Kind::kLost:
      return {.outcome = JobOutcome::kLost, .why = arrival.why};
    case Arrival::Kind::kRefused:
      return {.outcome = JobOutcome::kRejected, .why = arrival.why};
  }
  throw failure("transport", "no such kind of arrival");
}

FinishedJob RemoteFleet::end(Out::iterator job, JobResult result) {
  const auto [number, id] = *job;
  out_.erase(job);
  transport_.on_result(number, result);
  const Traffic moved = transport_.close(number);
  result.bytes_down = moved.down;
  result.bytes_up = moved.up;
  const auto cohort = open_.find(id.ticket);
  if (--cohort->second.out == 0) {
    cohort->second.merge();
    open_.erase(cohort);
  }
  return {id, std::move(result)};
}

JobResult RemoteFleet::cancel(const JobId& id, JobOutcome outcome, const std::string& why) {
  const auto job = std::ranges::find_if(out_, [&](const auto& entry) { return entry.second == id; });
  if (job == out_.end()) throw failure("fleet", "a job is cancelled that is not out");
  return end(job, {.outcome = outcome, .why = why}).result;
}

void RemoteFleet::abandon() {
  open_.clear();
  for (const auto& [number, id] : std::exchange(out_, {})) transport_.close(number);
}

}  // namespace subfleet
