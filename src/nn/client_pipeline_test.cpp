#include "nn/client_pipeline.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "nn/host_state.h"
#include "nn/jobs.h"
#include "nn/trainer_testing.h"
#include "nn/trainers.h"

namespace subfleet {
namespace {

// What a server has of a client: the result and the sum with its update.
struct Arrived {
  JobResult result;
  PartialSum sum;
};

// A round whose clients send their updates in each of the pipeline's ways.
struct Senders {
  SmallRound round;
  ThreadPool pool{1};
  HostState state{round.model, {.optimizer = "fedavg"}, pool};
  ClientPipeline pipeline{host_networks("reference")};
  Cohort cohort = round.cohort({.epochs = 2, .batch = 4, .client_lr = 0.05f});

  Senders() { state.set_weights(round.weights); }

  JobResult train(const Job& job) {
    return pipeline.train(cohort, job, round.examples, [&](std::span<float> weights) {
      job.submodel->gather(round.weights, weights);
      cohort.wire.down->transmit(weights, job_key(cohort, job, Purpose::kWireDown));
    });
  }
  // To a server in this process.
  Arrived here(const Job& job, bool squared_norms) {
    cohort.state = &state;
    cohort.squared_norms = squared_norms;
    Arrived arrived{train(job), PartialSum(round.weights.size())};
    pipeline.send(cohort, job, arrived.sum, arrived.result);
    return arrived;
  }
  // As a message, to a server elsewhere.
  Arrived elsewhere(const Job& job) {
    cohort.state = nullptr;
    cohort.squared_norms = true;
    Arrived arrived{train(job), PartialSum(round.weights.size())};
    std::vector<std::byte> message;
    pipeline.send(cohort, job, message);
    std::vector<float> update(job.submodel->size());
    cohort.wire.up->decode(message, job_key(cohort, job, Purpose::kWireUp), update);
    add_update(cohort, job, update, arrived.sum, arrived.result);
    return arrived;
  }
};

TEST(ClientPipeline, WhatArrivesIsTheSameHoweverItIsSent) {
  for (const char* codec : {"f32", "f16", "rot2"}) {
    Senders senders;
    senders.cohort.wire = {.down = &find_codec(codec), .up = &find_codec(codec)};
    for (const Job& job : senders.round.jobs) {
      const Arrived plain = senders.here(job, false), measured = senders.here(job, true);
      const Arrived sent = senders.elsewhere(job);
      EXPECT_EQ(plain.result.outcome, JobOutcome::kTrained);
      EXPECT_EQ(plain.sum, measured.sum) << codec;
      EXPECT_EQ(plain.sum, sent.sum) << codec;
      EXPECT_EQ(measured.result.squared_norm, sent.result.squared_norm) << codec;
      EXPECT_EQ(measured.result.squared_norm > 0, plain.sum.examples() > 0);
    }
  }
}

TEST(ClientPipeline, AnUpdateThatIsNotFiniteIsJudgedTheSameHoweverItIsSent) {
  Senders senders;
  senders.cohort.how.client_lr = 1e30f;
  const Job& job = senders.round.jobs.front();
  for (const Arrived& arrived : {senders.here(job, false), senders.here(job, true), senders.elsewhere(job)}) {
    EXPECT_EQ(arrived.result.outcome, JobOutcome::kDiverged);
    EXPECT_EQ(arrived.sum.examples(), 0u);
  }
}

TEST(ClientPipeline, ExamplesAreInANewOrderInEachEpochUnlessTheDataOrderIsKept) {
  std::vector<uint32_t> in_order(20), order(20), before;
  std::iota(in_order.begin(), in_order.end(), 0u);
  Random random({.seed = 1, .purpose = Purpose::kBatchOrder});
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    order_examples(random, {.shuffle = true}, epoch, order);
    EXPECT_NE(order, before);
    EXPECT_TRUE(std::ranges::is_permutation(order, in_order));
    before = order;
  }
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    order_examples(random, {.shuffle = false}, epoch, order);
    EXPECT_EQ(order, in_order);
  }
}

}  // namespace
}  // namespace subfleet
