#include "fleet/remote/remote_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "fleet/remote/remote_round.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongWait = 3600;  // where there is no deadline, next() is asked again
constexpr double kShortPause = 10;  // before clients are asked again without one

// Since `start`, for `seconds` in all.
double seconds_left(Clock::time_point start, double seconds) {
  return seconds - std::chrono::duration<double>(Clock::now() - start).count();
}

// Sends some of a round's jobs and takes what comes back until all are answered or the deadline has passed.
void attempt(Transport& transport, RemoteRound& round, const std::vector<size_t>& wanted, double deadline) {
  const Clock::time_point start = Clock::now();
  for (const size_t index : wanted) {
    const Job& job = round.job(index);
    transport.send({.client = job.client, .row = job.row, .message = round.message(index)});
  }
  const auto settled = [&](size_t sent) { transport.on_result(sent, round.result(wanted[sent])); };
  for (size_t open = wanted.size(); open > 0;) {
    const double left = deadline == 0 ? kLongWait : seconds_left(start, deadline);
    const std::optional<Arrival> arrival = transport.next(std::max(left, 0.0));
    if (!arrival && left <= 0) break;  // what has come by then counts
    if (!arrival) continue;
    if (arrival->job >= wanted.size()) throw failure("transport", "answers a job that was not sent");
    const size_t index = wanted[arrival->job];
    if (round.answered(index)) continue;
    switch (arrival->kind) {
      case Arrival::Kind::kReply:
        round.take_reply(index, arrival->reply);
        break;
      case Arrival::Kind::kLost:
        round.leave_out(index, JobOutcome::kLost, arrival->why);
        break;
      case Arrival::Kind::kRefused:
        round.leave_out(index, JobOutcome::kRejected, arrival->why);
        break;
    }
    settled(arrival->job);
    --open;
  }
  for (size_t sent = 0; sent < wanted.size(); ++sent) {
    if (round.answered(wanted[sent])) continue;
    round.leave_out(wanted[sent], JobOutcome::kLate, fmt::format("no answer within {} s", deadline));
    settled(sent);
  }
  const std::vector<Traffic> moved = transport.finish();
  if (moved.size() != wanted.size())
    throw failure("transport", "counts the bytes of other jobs than were sent");
  for (size_t sent = 0; sent < wanted.size(); ++sent) round.add_traffic(wanted[sent], moved[sent]);
}

// Clients that were asked in vain get the rest of the deadline to come back; nothing can arrive meanwhile.
void pause(Transport& transport, Clock::time_point start, double deadline) {
  const double seconds = deadline == 0 ? kShortPause : deadline;
  for (double left = seconds_left(start, seconds); left > 0; left = seconds_left(start, seconds))
    static_cast<void>(transport.next(left));
}

}  // namespace

RemoteFleet::RemoteFleet(Transport& transport, LocalFleet& here, const RemoteOptions& options)
    : transport_(transport), here_(here), options_(options) {}

std::vector<std::vector<JobResult>> RemoteFleet::train(std::span<const Cohort> cohorts) {
  RemoteRound round(cohorts);
  std::vector<size_t> wanted(round.jobs());
  std::iota(wanted.begin(), wanted.end(), size_t{0});
  for (int number = 1;; ++number) {
    const Clock::time_point start = Clock::now();
    attempt(transport_, round, wanted, options_.deadline);
    if (round.enough_replies(options_.min_replies)) return round.close();
    if (number == kAttempts) break;
    wanted = round.try_again();
    pause(transport_, start, options_.deadline);
  }
  throw failure(
      "round", fmt::format("less than round.min_replies = {} of the clients were trained, after {} attempts; "
                           "start again when more of them are back, or lower it",
                           options_.min_replies, kAttempts));
}

}  // namespace subfleet
