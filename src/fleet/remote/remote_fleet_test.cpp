#include "subfleet/fleet/remote/remote_fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "fleet/remote/scripted_transport_testing.h"
#include "nn/jobs.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/server/message.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Kind = Arrival::Kind;

// What a client answers that does not train but sends small random changes.
UpdateMessage invented_update(const JobMessage& job,
                              const std::function<void(std::vector<float>&)>& spoil = {}) {
  std::vector<float> changes(named_submodel(job).size());
  Random random({.seed = 5, .round = job.draw, .client = job.client});
  for (float& change : changes) change = static_cast<float>(random.uniform(-0.01, 0.01));
  if (spoil) spoil(changes);
  UpdateMessage update{.draw = job.draw,
                       .row = job.row,
                       .examples = 10 + job.client,
                       .loss = 1.5,
                       .accuracy = 0.25,
                       .update = {}};
  const Cohort cohort = cohort_of(job);
  cohort.wire.up->encode(changes, job_key(cohort, {.client = job.client, .row = job.row}, Purpose::kWireUp),
                         update.update);
  return update;
}

std::vector<Arrival> reply(std::vector<std::byte> bytes) {
  return {{.kind = Kind::kReply, .reply = std::move(bytes)}};
}
std::vector<Arrival> reply(const UpdateMessage& update) { return reply(encode(update)); }

TEST(RemoteFleet, HasTheBitsOfThisProcessInAnyOrderOfArrival) {
  Config f32 = tiny_config(), rotated = tiny_config(), tiers = tiny_config();
  rotated.wire = {.down = "rot4", .up = "rot1"};
  tiers.code.tiers = {1.0, 0.5};
  tiers.server.optimizer = "fedexp";  // which wants squared norms
  tiers.server.lr = 1;
  for (const Config& config : {f32, rotated, tiers}) {
    ThreadPool pool(2);
    LocalFleet local = tiny_fleet(pool);
    subfleet::Run expected(config, local);
    const std::array records{expected.step(), expected.step()};
    for (const bool reversed : {false, true}) {
      const TinyExamples examples;
      JobRunner runner(examples, "reference");
      ScriptedTransport transport(
          [&](const Outgoing& sent) {
            return reply(runner.run({sent.message.begin(), sent.message.end()}).update);
          },
          reversed);
      LocalFleet here = tiny_fleet(pool);
      RemoteFleet fleet(transport, here, {.clients = kClients});
      subfleet::Run run(config, fleet);
      for (const RoundRecord& record : records) {
        const RoundRecord got = run.step();
        EXPECT_EQ(got.outcomes, record.outcomes);
        EXPECT_EQ(got.train_loss, record.train_loss);
        EXPECT_EQ(got.train_accuracies, record.train_accuracies);
        EXPECT_EQ(got.bytes_down, record.bytes_down);
        EXPECT_EQ(got.bytes_up, record.bytes_up);
      }
      EXPECT_TRUE(std::ranges::equal(run.weights(), expected.weights()))
          << config.wire.up << ", " << config.server.optimizer << (reversed ? ", reversed" : "");
    }
  }
}

// A fleet whose clients do what a test says.
struct ScriptedFleet {
  ScriptedTransport transport;
  ThreadPool pool{1};
  LocalFleet here = tiny_fleet(pool);
  RemoteFleet fleet;

  explicit ScriptedFleet(ScriptedTransport::Client client, const Patience& patience = {})
      : transport(std::move(client)), fleet(transport, here, {.clients = kClients, .patience = patience}) {}
};

// What a bad client does with its job, and what becomes of it.
struct Fault {
  std::string name;
  JobOutcome outcome;
  std::string why;
  std::function<std::vector<Arrival>(const JobMessage& job)> answer;
};

// A reply that differs from a good one in one point.
auto changed(const std::function<void(UpdateMessage&)>& change) {
  return [change](const JobMessage& job) {
    UpdateMessage update = invented_update(job);
    change(update);
    return reply(update);
  };
}

std::vector<Fault> faults() {
  const auto spoilt = [](float value) {
    return [value](const JobMessage& job) {
      return reply(invented_update(job, [value](std::vector<float>& changes) { changes[7] = value; }));
    };
  };
  constexpr JobOutcome kRejected = JobOutcome::kRejected, kDiverged = JobOutcome::kDiverged;
  return {
      {"garbage", kRejected, "not one of Subfleet's",
       [](const JobMessage&) { return reply(std::vector(1000, std::byte{0xA5})); }},
      {"nothing", kRejected, "truncated", [](const JobMessage&) { return reply(std::vector<std::byte>{}); }},
      {"a broken off message", kRejected, "truncated",
       [](const JobMessage& job) {
         std::vector<std::byte> bytes = encode(invented_update(job));
         bytes.resize(bytes.size() / 2);
         return reply(bytes);
       }},
      {"the job itself", kRejected, "of another kind",
       [](const JobMessage& job) { return reply(encode(job)); }},
      {"another row's", kRejected, "an update for row", changed([](UpdateMessage& m) { m.row ^= 1; })},
      {"another round's", kRejected, "was asked for", changed([](UpdateMessage& m) { m.draw += 1; })},
      {"too few values", kRejected, "an update of",
       changed([](UpdateMessage& m) { m.update.resize(m.update.size() - 4); })},
      {"too many values", kRejected, "an update of",
       changed([](UpdateMessage& m) { m.update.resize(m.update.size() + 4); })},
      {"absurdly many examples", kRejected, "examples",
       changed([](UpdateMessage& m) { m.examples = 4'000'000'000; })},
      {"an accuracy of 7", kRejected, "an accuracy of 7", changed([](UpdateMessage& m) { m.accuracy = 7; })},
      {"an accuracy that is no number", kRejected, "an accuracy of nan",
       changed([](UpdateMessage& m) { m.accuracy = kNaN; })},
      {"a loss that is no number", kDiverged, "", changed([](UpdateMessage& m) { m.loss = kNaN; })},
      {"NaN among the values", kDiverged, "", spoilt(std::numeric_limits<float>::quiet_NaN())},
      {"an infinite value", kDiverged, "", spoilt(std::numeric_limits<float>::infinity())},
      {"a huge value", kDiverged, "", spoilt(1e20f)},
      {"an error of its own", kRejected, "no such client",
       [](const JobMessage&) {
         return std::vector<Arrival>{{.kind = Kind::kRefused, .why = "no such client"}};
       }},
      {"silence", JobOutcome::kLate, "no answer within",
       [](const JobMessage&) { return std::vector<Arrival>{}; }},
      {"its end", JobOutcome::kLost, "heartbeat",
       [](const JobMessage&) { return std::vector<Arrival>{{.kind = Kind::kLost, .why = "no heartbeat"}}; }},
  };
}

struct Outcome {
  std::vector<float> weights;
  RoundRecord record;
  std::vector<JobResult> results;
};

// One round in which the client of row 1 does as it likes, and the others are good.
Outcome round_with(const std::string& codec,
                   const std::function<std::vector<Arrival>(const JobMessage&)>& bad) {
  ScriptedFleet scripted(
      [&](const Outgoing& sent) {
        const JobMessage job = decode_job(sent.message);
        EXPECT_EQ(job.client, sent.client);
        return job.row == 1 ? bad(job) : reply(invented_update(job));
      },
      {.deadline = 0.02});
  Config config = tiny_config();
  config.wire.up = codec;
  subfleet::Run run(config, scripted.fleet);
  RoundRecord record = run.step();
  return {{run.weights().begin(), run.weights().end()}, record, scripted.transport.results};
}

TEST(RemoteFleet, EveryFaultCostsItsOwnReplyAlone) {
  for (const std::string codec : {"f32", "rot1"}) {
    const Outcome without =
        round_with(codec, [](const JobMessage&) { return std::vector<Arrival>{{.kind = Kind::kLost}}; });
    const Outcome with = round_with(codec, [](const JobMessage& job) { return reply(invented_update(job)); });
    ASSERT_EQ(with.record.outcomes[JobOutcome::kTrained], 4u);
    ASSERT_NE(with.weights, without.weights);
    for (const Fault& fault : faults()) {
      // One bit per value has no room for a single odd one; the whole block shows it, or nothing does.
      if (codec == "rot1" && fault.name == "a huge value") continue;
      const Outcome got = round_with(codec, fault.answer);
      EXPECT_EQ(got.weights, without.weights) << codec << ", " << fault.name;
      EXPECT_EQ(got.record.outcomes[JobOutcome::kTrained], 3u) << codec << ", " << fault.name;
      EXPECT_EQ(got.record.outcomes[fault.outcome], 1u) << codec << ", " << fault.name;
      ASSERT_EQ(got.results.size(), 4u);
      const auto left_out = std::ranges::find(got.results, fault.outcome, &JobResult::outcome);
      ASSERT_NE(left_out, got.results.end()) << fault.name;
      EXPECT_NE(left_out->why.find(fault.why), std::string::npos) << fault.name << ": " << left_out->why;
    }
  }
}

// A node of another version refuses its job, and a server the node's update; either line reaches the results.
TEST(RemoteFleet, ANodeOfAnotherFormatIsRejectedWithTheLineThatSaysWhoMustUpdate) {
  constexpr size_t kFormatAt = 3;
  const TinyExamples examples;
  JobRunner node(examples, "reference");
  ScriptedFleet scripted([&](const Outgoing& job) {
    std::vector<std::byte> bytes(job.message.begin(), job.message.end());
    const uint32_t row = decode_job(job.message).row;
    if (row == 0) bytes[kFormatAt] = std::byte{'4'};
    try {
      RanJob ran = node.run(std::move(bytes));
      if (row == 1) ran.update[kFormatAt] = std::byte{'2'};
      return reply(std::move(ran.update));
    } catch (const Error& error) {
      return std::vector<Arrival>{{.kind = Kind::kRefused, .why = error.what()}};
    }
  });
  subfleet::Run run(tiny_config(), scripted.fleet);
  run.step();
  std::vector<std::string> rejected;
  for (const JobResult& result : scripted.transport.results) {
    if (result.outcome == JobOutcome::kRejected) rejected.push_back(result.why);
  }
  std::ranges::sort(rejected);
  EXPECT_EQ(rejected,
            (std::vector<std::string>{
                "message: format 2 of an older node; this server speaks format 3: update the node",
                "message: format 4 of a newer server; this node speaks format 3: update the node"}));
}

TEST(RemoteFleet, ASecondAnswerIsNotLookedAt) {
  const Outcome once = round_with("f32", [](const JobMessage& job) { return reply(invented_update(job)); });
  for (const bool good : {true, false}) {
    const Outcome twice = round_with("f32", [good](const JobMessage& job) {
      std::vector<Arrival> both = reply(invented_update(job));
      both.push_back(good ? both.front() : Arrival{.kind = Kind::kReply, .reply = {}});
      return both;
    });
    EXPECT_EQ(twice.weights, once.weights);
    EXPECT_EQ(twice.record.outcomes[JobOutcome::kTrained], 4u);
  }
}

// Counts how often each client is asked; all but that of row 0 are lost the first so many times.
struct Attempts {
  std::map<uint32_t, uint32_t> asked;
  uint32_t absences = 0;
  std::vector<Arrival> operator()(const Outgoing& sent) {
    const JobMessage job = decode_job(sent.message);
    const uint32_t before = asked[job.row]++;
    if (job.row > 0 && before < absences) return {{.kind = Kind::kLost, .why = "gone"}};
    return reply(invented_update(job));
  }
};

TEST(RemoteFleet, WithTooFewRepliesTheMissingClientsAreAskedAgainForTheSameRound) {
  const Outcome clean = round_with("f32", [](const JobMessage& job) { return reply(invented_update(job)); });
  Attempts attempts{.asked = {}, .absences = 2};
  ScriptedFleet scripted(std::ref(attempts), {.deadline = 0.02, .min_replies = 0.5});
  subfleet::Run run(tiny_config(), scripted.fleet);
  const RoundRecord record = run.step();
  EXPECT_TRUE(std::ranges::equal(run.weights(), clean.weights));
  EXPECT_EQ(attempts.asked, (std::map<uint32_t, uint32_t>{{0, 1}, {1, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(record.outcomes[JobOutcome::kTrained], 4u);
  EXPECT_GT(record.bytes_down, clean.record.bytes_down * 2) << "what was sent again was sent";
  EXPECT_EQ(record.bytes_up, clean.record.bytes_up);
}

TEST(RemoteFleet, WithoutEnoughRepliesTheRunStopsAndItsStateIsAsBefore) {
  Attempts attempts{.asked = {}, .absences = 1000};
  ScriptedFleet scripted(std::ref(attempts), {.deadline = 0.02, .min_replies = 0.5});
  subfleet::Run run(tiny_config(), scripted.fleet);
  try {
    run.step();
    ADD_FAILURE() << "one of four clients answered";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("round.min_replies = 0.5"), std::string::npos) << error.what();
  }
  EXPECT_EQ(run.round(), 0u);
  EXPECT_TRUE(std::ranges::equal(run.weights(), initial_weights(run.model(), tiny_config().run.seed)));
}

TEST(RemoteFleet, AShareOfExactlyTheRepliesIsEnough) {
  Attempts attempts{.asked = {}, .absences = 1000};
  ScriptedFleet scripted(std::ref(attempts), {.deadline = 0.02, .min_replies = 0.25});
  subfleet::Run run(tiny_config(), scripted.fleet);
  EXPECT_EQ(run.step().outcomes[JobOutcome::kTrained], 1u);
}

}  // namespace
}  // namespace subfleet
