#include "subfleet/fleet.h"

#include <gtest/gtest.h>

#include <set>

#include "fleet/remote/scripted_transport_testing.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/fleet/remote/remote_fleet.h"
#include "subfleet/round_masks.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// A fleet in this process, and one of devices behind a transport.
struct Fleets {
  ThreadPool pool{2};
  LocalFleet local = tiny_fleet(pool), here = tiny_fleet(pool);
  TinyExamples examples;
  JobRunner runner{examples, "reference"};
  ScriptedTransport transport{[this](const Outgoing& sent) -> std::vector<Arrival> {
    return {{.kind = Arrival::Kind::kReply,
             .reply = runner.run({sent.message.begin(), sent.message.end()}).update}};
  }};
  RemoteFleet remote{transport, here, {.clients = kClients}};

  std::vector<Fleet*> all() { return {&local, &remote}; }
};

// Some clients' jobs with a state of the fleet's.
struct TinyCohort {
  ModelSpec model = find_model("emnist-mlp");
  std::vector<SubModel> submodels;
  std::vector<Job> jobs;
  std::unique_ptr<ServerState> state;

  TinyCohort(Fleet& fleet, uint32_t count) : state(fleet.make_state(model, {})) {
    const RoundMasks masks(model, code(), 1, 1, kClients);
    for (uint32_t row = 0; row < count; ++row) submodels.push_back(masks.submodel(row, row));
    for (uint32_t row = 0; row < count; ++row)
      jobs.push_back({.client = row, .row = row, .submodel = &submodels[row]});
    state->set_weights(initial_weights(model, 5));
  }
  static CodeOptions code() { return {.family = "cwc", .keep = 0.5}; }
  Cohort cohort() const {
    return {.model = &model,
            .code = code(),
            .seed = 1,
            .draw = 1,
            .rows = kClients,
            .jobs = jobs,
            .how = {.batch = 4},
            .wire = {.down = &find_codec("f32"), .up = &find_codec("f32")},
            .state = state.get()};
  }
  PartialSum sum() const {
    PartialSum copy(1);
    state->with_sum([&](PartialSum& sum) { copy = sum; });
    return copy;
  }
};

std::vector<FinishedJob> all_finished(Fleet& fleet) {
  std::vector<FinishedJob> all;
  while (auto job = fleet.next(0)) all.push_back(std::move(*job));
  return all;
}

TEST(Fleet, JobsOfSeveralCohortsComeBackOnceEachWithTheSumsOfTrain) {
  Fleets fleets;
  for (Fleet* fleet : fleets.all()) {
    const TinyCohort whole(*fleet, 4), first(*fleet, 4), second(*fleet, 2);
    const Cohort expected = whole.cohort();
    const std::vector<JobResult> results = fleet->train({&expected, 1}).front();
    const uint64_t a = fleet->submit(first.cohort()), b = fleet->submit(second.cohort());
    std::set<JobId> seen;
    for (const auto& [id, result] : all_finished(*fleet)) {
      EXPECT_TRUE(seen.insert(id).second);
      EXPECT_EQ(result.outcome, JobOutcome::kTrained);
      EXPECT_EQ(result.loss, results[id.job].loss);
      EXPECT_EQ(result.bytes_up, results[id.job].bytes_up);
    }
    EXPECT_EQ(seen, (std::set<JobId>{{a, 0}, {a, 1}, {a, 2}, {a, 3}, {b, 0}, {b, 1}}));
    EXPECT_EQ(first.sum(), whole.sum());
    EXPECT_NE(second.sum(), whole.sum());
  }
}

TEST(Fleet, ACancelledJobHasNoPartInTheSum) {
  Fleets fleets;
  for (Fleet* fleet : fleets.all()) {
    const TinyCohort two(*fleet, 2), three(*fleet, 3);
    const Cohort expected = two.cohort();
    fleet->train({&expected, 1});
    const uint64_t ticket = fleet->submit(three.cohort());
    const JobResult cancelled = fleet->cancel({ticket, 2}, JobOutcome::kLate, "enough have answered");
    EXPECT_EQ(cancelled.outcome, JobOutcome::kLate);
    EXPECT_EQ(cancelled.why, "enough have answered");
    EXPECT_EQ(all_finished(*fleet).size(), 2u);
    EXPECT_EQ(three.sum(), two.sum());
    EXPECT_THROW(fleet->cancel({ticket, 2}, JobOutcome::kLate, ""), Error) << "it is not out any more";
  }
}

TEST(Fleet, WhatWasAbandonedDoesNotComeBack) {
  Fleets fleets;
  for (Fleet* fleet : fleets.all()) {
    const TinyCohort forgotten(*fleet, 3), next(*fleet, 2);
    fleet->submit(forgotten.cohort());
    fleet->abandon();
    EXPECT_FALSE(fleet->next(0));
    EXPECT_EQ(forgotten.sum().examples(), 0u);
    const uint64_t ticket = fleet->submit(next.cohort());
    for (const auto& [id, result] : all_finished(*fleet)) EXPECT_EQ(id.ticket, ticket);
    EXPECT_GT(next.sum().examples(), 0u);
  }
}

// Cancelled after one result is here, a job is late where it is elsewhere, and trained with its batch where
// it is in this process. Either way the sum has those that were trained.
TEST(Fleet, TheSumHasWhatTheResultsSayHoweverLateAJobIsCancelled) {
  Fleets fleets;
  for (Fleet* fleet : fleets.all()) {
    TinyCohort three(*fleet, 3), trained(*fleet, 3);
    const uint64_t ticket = fleet->submit(three.cohort());
    const std::optional<FinishedJob> first = fleet->next(0);
    ASSERT_TRUE(first);
    std::vector<JobResult> results(3);
    results[first->id.job] = first->result;
    for (size_t job = 0; job < 3; ++job) {
      if (job != first->id.job) results[job] = fleet->cancel({ticket, job}, JobOutcome::kLate, "");
      const JobOutcome late = fleet == &fleets.local ? JobOutcome::kTrained : JobOutcome::kLate;
      EXPECT_EQ(results[job].outcome, job == first->id.job ? JobOutcome::kTrained : late);
    }
    EXPECT_FALSE(fleet->next(0));
    std::erase_if(trained.jobs,
                  [&](const Job& job) { return results[job.row].outcome != JobOutcome::kTrained; });
    const Cohort expected = trained.cohort();
    fleet->train({&expected, 1});
    EXPECT_EQ(three.sum(), trained.sum());
  }
}

}  // namespace
}  // namespace subfleet
