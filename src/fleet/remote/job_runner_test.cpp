#include "subfleet/fleet/remote/job_runner.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>

#include "subfleet/error.h"
#include "subfleet/fleet/remote/node_data.h"
#include "subfleet/local_fleet.h"
#include "subfleet/partial_sum.h"
#include "subfleet/round_masks.h"
#include "subfleet/server/message.h"
#include "subfleet/thread_pool.h"
#include "tiny_federation.h"
#include "tiny_network.h"

namespace subfleet {
namespace {

constexpr uint32_t kClients = 4;

SplitFederation tiny_data(uint32_t clients = kClients) {
  return {std::make_unique<TinyFederation>(clients), 0, 0.1};
}

// One round of all clients, each with another half of the model.
struct TinyRound {
  ModelSpec model;
  std::vector<float> weights;
  CodeOptions code{.family = "balanced", .keep = 0.5, .rescale = true};
  std::vector<SubModel> submodels;
  std::vector<Job> jobs;
  Wire wire;

  TinyRound(std::string_view down, std::string_view up, ModelSpec of = find_model("emnist-mlp"))
      : model(std::move(of)),
        weights(initial_weights(model, 5)),
        wire{.down = &find_codec(down), .up = &find_codec(up)} {
    const RoundMasks masks(model, code, 8, 3, kClients);
    for (uint32_t row = 0; row < kClients; ++row) submodels.push_back(masks.submodel(row, client_of(row)));
    for (uint32_t row = 0; row < kClients; ++row)
      jobs.push_back({.client = client_of(row), .row = row, .submodel = &submodels[row]});
  }
  static uint32_t client_of(uint32_t row) { return (row + 1) % kClients; }

  Cohort cohort() const {
    return {.model = &model,
            .code = code,
            .seed = 8,
            .draw = 3,
            .rows = kClients,
            .jobs = jobs,
            .how = {.epochs = 2, .batch = 4, .client_lr = 0.1f, .flip = true, .crop = 2},
            .wire = wire};
  }

  std::vector<std::byte> message(const Job& job) const {
    JobMessage message = job_message(cohort());
    message.row = job.row;
    message.client = job.client;
    std::vector<float> held(job.submodel->size());
    job.submodel->gather(weights, held);
    wire.down->encode(held, {.seed = 8, .round = 3, .client = job.client, .purpose = Purpose::kWireDown},
                      message.weights);
    return encode(message);
  }
};

void expect_bits_of_the_local_fleet(std::string_view down, std::string_view up, std::string_view device,
                                    const ModelSpec& model = find_model("emnist-mlp")) {
  const TinyRound round(down, up, model);
  ThreadPool pool(1);
  LocalFleet fleet(tiny_data(), device, pool, 0);
  const auto state = fleet.make_state(round.model, {});
  state->set_weights(round.weights);
  Cohort cohort = round.cohort();
  cohort.state = state.get();
  const std::vector<JobResult> expected = fleet.train({&cohort, 1}).front();

  const NodeData data(tiny_data(), ClientRange{0, kClients - 1});
  JobRunner node(data, device);
  PartialSum sum(round.weights.size());
  for (const Job& job : round.jobs) {
    const std::vector<std::byte> sent = round.message(job);
    const RanJob ran = node.run(sent);
    const UpdateMessage reply = decode_update(ran.update);
    EXPECT_EQ(reply.draw, 3u);
    EXPECT_EQ(reply.row, job.row);
    EXPECT_EQ(reply.examples, expected[job.row].examples);
    EXPECT_EQ(reply.loss, expected[job.row].loss);
    EXPECT_EQ(reply.accuracy, expected[job.row].accuracy);
    EXPECT_EQ(sent.size(), expected[job.row].bytes_down);
    EXPECT_EQ(ran.update.size(), expected[job.row].bytes_up);
    std::vector<float> update(job.submodel->size());
    round.wire.up->decode(reply.update,
                          {.seed = 8, .round = 3, .client = job.client, .purpose = Purpose::kWireUp}, update);
    ASSERT_TRUE(sum.add(*job.submodel, update, reply.examples));
  }
  state->with_sum([&](const PartialSum& of_fleet) {
    EXPECT_TRUE(sum == of_fleet) << down << " down, " << up << " up, on " << device;
  });
}

TEST(JobRunner, GivesTheBitsOfTheLocalFleet) {
  expect_bits_of_the_local_fleet("f32", "f32", "reference");
  expect_bits_of_the_local_fleet("rot4", "rot1", "reference");
  for (const std::string& device : trainer_names())
    if (device == "cpu") expect_bits_of_the_local_fleet("rot4", "f32", device);
}

TEST(JobRunner, GivesTheBitsOfTheLocalFleetWithANetworkOfToday) {
  for (const std::string& device : trainer_names()) {
    if (device == "cpu" || device == "reference")
      expect_bits_of_the_local_fleet("rot4", "rot2", device, tiny_network());
  }
}

std::string complaint(const ExampleSource& data, const JobMessage& job) {
  try {
    JobRunner(data, "reference").run(encode(job));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(JobRunner, RefusesWhatIsAbsurd) {
  const TinyRound round("f32", "f32");
  const NodeData data(tiny_data(), ClientRange{0, 2});
  const JobMessage good = decode_job(round.message(round.jobs[0]));
  ASSERT_EQ(complaint(data, good), "none");
  const auto complaint_of = [&](auto change) {
    JobMessage job = good;
    change(job);
    return complaint(data, job);
  };
  const auto expect = [&](auto change, std::string_view words) {
    EXPECT_NE(complaint_of(change).find(words), std::string::npos) << complaint_of(change);
  };
  expect([](JobMessage& job) { job.local.epochs = 4'000'000'000; }, "4000000000 epochs");
  expect([](JobMessage& job) { job.local.epochs = 0; }, "0 epochs");
  expect([](JobMessage& job) { job.local.batch = 0; }, "0 examples in a batch");
  expect([](JobMessage& job) { job.local.client_lr = std::numeric_limits<float>::infinity(); },
         "not a number");
  expect([](JobMessage& job) { job.weights.pop_back(); }, "bytes of weights");
  expect([](JobMessage& job) { job.code.keep = 0.25; }, "bytes of weights");
  expect([](JobMessage& job) { job.row = kClients; }, "row");
  expect([](JobMessage& job) { job.rows = 4'000'000'000; }, "too many");
  expect([](JobMessage& job) { job.client = 3; }, "client 3 is not one of this node's, 0 to 2");
  expect([](JobMessage& job) { job.down = "rot9"; }, "rot9");
  expect([](JobMessage& job) { job.model = "char-lstm", job.code.family = "none"; }, "bytes of weights");
}

TEST(NodeData, OwnDataServeAnyNumber) {
  const NodeData own(tiny_data(1), std::nullopt);
  EXPECT_TRUE(own.clients().empty());
  Examples as_client_7, as_client_0;
  own.read_train(7, as_client_7);
  own.read_train(0, as_client_0);
  EXPECT_EQ(own.examples(), std::vector<uint32_t>{static_cast<uint32_t>(as_client_0.count())});
  EXPECT_EQ(as_client_7.inputs, as_client_0.inputs);
}

TEST(NodeData, HasTheClientsThatItIsGiven) {
  const NodeData some(tiny_data(), ClientRange{1, 2});
  EXPECT_EQ(some.clients(), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(some.examples(),
            (std::vector<uint32_t>{tiny_data().train_samples(1), tiny_data().train_samples(2)}));
  EXPECT_THROW(NodeData(tiny_data(), std::nullopt), Error);
  EXPECT_THROW(NodeData(tiny_data(), (ClientRange{1, kClients})), Error);
  EXPECT_THROW(NodeData(tiny_data(), (ClientRange{2, 1})), Error);
}

}  // namespace
}  // namespace subfleet
