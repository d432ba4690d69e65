#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "nn/aligned.h"
#include "nn/local_sgd.h"
#include "subfleet/examples.h"
#include "subfleet/partial_sum.h"
#include "subfleet/round.h"
#include "subfleet/trainer.h"

namespace subfleet {

// One client's part of a round on a host, stage by stage: weights are given and trained, and their
// difference, the update, is sent through wire.up. The same for a simulated client (LocalTrainer) and a node
// (JobRunner); a client that trains by itself (Python) shares make_update() and encode_update(). The GPU's
// twin, for all clients at once, is CudaTrainer::train. Keeps the networks of the last few shapes, and its
// memory for the next job.
class ClientPipeline {
 public:
  // Fills in the sub-model's weights as they arrive at the client through wire.down.
  using Give = std::function<void(std::span<float> weights)>;

  explicit ClientPipeline(NetworkFactory make_network) : sgd_(std::move(make_network)) {}

  // Trains the job with the client's examples, which are read and checked. Bytes are left to the caller. A
  // client with too many examples is rejected before it trains.
  JobResult train(const Cohort& cohort, const Job& job, const ExampleSource& source, const Give& give);

  // The last stage, for the job that was just trained and not rejected. To a server in this process, the
  // cohort's state: what would arrive is judged and added to `sum`.
  void send(const Cohort& cohort, const Job& job, PartialSum& sum, JobResult& result);
  // To a server elsewhere: replaces `message` by the encoded update.
  void send(const Cohort& cohort, const Job& job, std::vector<std::byte>& message);

  // Frees the memory of the trained weights as soon as update() was called, and the rest with release().
  void keep_little_memory() { keep_little_ = true; }
  void release();

  LocalSgd& sgd() { return sgd_; }

 private:
  std::span<float> update();

  LocalSgd sgd_;
  Examples examples_;         // the client's
  AlignedFloats trained_;     // the sub-model's weights
  std::vector<float> given_;  // as they were before the training, then the update; where it is needed
  bool keep_little_ = false;
};

}  // namespace subfleet
