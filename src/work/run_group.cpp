#include "subfleet/work/run_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <limits>
#include <numeric>
#include <utility>

#include "subfleet/base/stopwatch.h"
#include "subfleet/page/page.h"
#include "subfleet/report/round_progress.h"
#include "subfleet/store/event_file.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/session.h"
#include "subfleet/training.h"

namespace subfleet {
namespace {

// A run and what keeps it.
struct OpenRun {
  const PlannedRun& plan;
  bool begun;  // before
  Run run;
  RunWriter writer;
  uint64_t bytes;  // exchanged so far
  EventFile events;
  bool over = false;  // finished, or it diverged

  OpenRun(const PlannedRun& one, Fleet& fleet, const Provenance& now)
      : plan(one),
        begun(RunWriter::has_begun(one.path)),
        run(begun ? going_on(one.config, RunWriter::config(one.path)) : one.config, fleet),
        writer(begun ? RunWriter::reopen(one.path) : RunWriter::begin(one.path, run, now)),
        bytes(begun ? writer.restore(run, now) : 0),
        events(one.path, writer.log()) {}

  bool going() const { return !over && run.round() < plan.config.run.rounds; }

  // The round that it has just done.
  void keep(const SteppedRound& round, GroupObserver& observer, bool alone) {
    const RoundRecord& record = round.record;
    bytes += record.bytes_down + record.bytes_up;
    if (!round.diverged.empty()) {
      over = true;
      writer.append(record);
      if (plan.for_good) RunWriter::give_up(plan.path);
      write_run_page(plan.path);
      observer.on_note(fmt::format("{}: {}", plan.name, round.diverged));
      return;
    }
    for (const std::string& line : left_out_lines(run, record, alone ? "" : plan.name))
      observer.on_note(line);
    writer.round_done(run, record);
    events.round_done(run, record);
  }
};

// What the group says of a round: means over its runs, and the round of the one that is furthest behind.
RoundLine line_of(std::span<const SteppedRound> rounds) {
  RoundLine line{.round = rounds.front().record.round};
  std::vector<double> train, test;
  for (const auto& [record, diverged] : rounds) {
    line.round = std::min(line.round, record.round);
    if (diverged.empty()) train.push_back(record.train_accuracy_median);
    if (record.test_accuracy) test.push_back(*record.test_accuracy);
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  line.train_accuracy_median = mean(train);  // NaN without values
  if (!test.empty()) line.test_accuracy = mean(test);
  return line;
}

// Finishes the runs that have done their last round. Their files are written at the same time, as each takes
// a disk long.
void finish_done(std::span<const std::unique_ptr<OpenRun>> runs) {
  std::vector<std::future<void>> written;
  for (const auto& one : runs) {
    if (one->over || one->going()) continue;
    one->run.tested_weights();  // from the device to the host in this thread, which has the device
    if (!one->plan.for_good) one->run.weights(), one->run.moments();
    written.push_back(std::async(std::launch::async, [&one] {
      one->plan.for_good ? one->writer.finish_for_good(one->run) : one->writer.finish(one->run);
      write_run_page(one->plan.path);
    }));
    one->over = true;
  }
  for (std::future<void>& each : written) each.get();
}

using OpenRuns = std::vector<std::unique_ptr<OpenRun>>;

// Begins or reopens the runs, and tells the observer.
OpenRuns open_group(std::span<const PlannedRun> group, const std::string& title, Fleet& fleet,
                    const PlanContext& context) {
  OpenRuns runs;
  GroupStart start{.title = title, .rounds_done = std::numeric_limits<uint32_t>::max()};
  for (const PlannedRun& one : group) {
    const Provenance now = provenance_now(one.config, fleet, context.fleets.workers());
    runs.push_back(std::make_unique<OpenRun>(one, fleet, now));
    const uint32_t done = runs.back()->run.round();
    context.clock.give_up(one.number, done);
    start.rounds = std::max(start.rounds, one.config.run.rounds);
    start.rounds_done = std::min(start.rounds_done, done);
  }
  start.plan = plan_line(context.clock);
  context.observer.on_start(start);
  return runs;
}

// One round of the runs that still train.
void step_group(const OpenRuns& runs, std::span<OpenRun* const> going, Fleet& fleet,
                const PlanContext& context) {
  std::vector<Run*> together;
  for (OpenRun* one : going) together.push_back(&one->run);
  const Stopwatch whole;
  std::vector<SteppedRound> stepped = step_together(together, fleet);
  const double share = 1 / static_cast<double>(going.size()), seconds = whole.seconds() * share;
  for (size_t i = 0; i < going.size(); ++i) {
    measure_round(going[i]->run, stepped[i].record, seconds);
    going[i]->keep(stepped[i], context.observer, runs.size() == 1);
  }
  for (const OpenRun* one : going) {
    context.clock.rounds_done(one->plan.number, 1, whole.seconds() * share);
    if (one->over)
      context.clock.give_up(one->plan.number, one->plan.config.run.rounds - one->run.round() - 1);
  }
  RoundLine line = line_of(stepped);
  for (const auto& one : runs) line.bytes_total += one->bytes;
  line.plan = plan_line(context.clock);
  context.observer.on_round(line);
}

}  // namespace

bool train_group(std::span<const PlannedRun> group, const std::string& title, const PlanContext& context) {
  Fleet& fleet = context.fleets.fleet(group.front().config);
  const OpenRuns runs = open_group(group, title, fleet, context);
  while (true) {
    finish_done(runs);
    std::vector<OpenRun*> going;
    for (const auto& one : runs) {
      if (one->going()) going.push_back(one.get());
    }
    const bool stopped = !going.empty() && context.stop();
    if (stopped) {
      for (OpenRun* one : going) one->writer.checkpoint(one->run);
    }
    if (going.empty() || stopped) {
      context.observer.on_end();
      return !stopped;
    }
    step_group(runs, going, fleet, context);
  }
}

std::string group_title(size_t done, size_t all, const std::string& name, std::span<const uint64_t> seeds) {
  const bool alone = seeds.size() == 1;
  return fmt::format("{}{}/{} {}, {} {}", done + 1, alone ? "" : fmt::format("-{}", done + seeds.size()), all,
                     name, alone ? "seed" : "seeds", fmt::join(seeds, ", "));
}

}  // namespace subfleet
