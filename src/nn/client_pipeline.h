#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "nn/aligned.h"
#include "nn/local_sgd.h"
#include "subfleet/examples.h"
#include "subfleet/round.h"
#include "subfleet/trainer.h"

namespace subfleet {

// One client's part of a round on a host, stage by stage: weights are given and trained, and their difference
// is the update, which the caller sends through wire.up. Simulated clients (LocalTrainer) and nodes
// (JobRunner) both use it; a client that trains by itself (Python) shares make_update(). Its twin on the GPU,
// for all clients at once, is CudaTrainer::train. Keeps its memory and the networks of the last few shapes
// for the next job.
class ClientPipeline {
 public:
  // Fills in the sub-model's weights as they arrive at the client through wire.down.
  using Give = std::function<void(std::span<float> weights)>;

  explicit ClientPipeline(NetworkFactory make_network) : sgd_(std::move(make_network)) {}

  // Trains the job with the client's examples, which it reads and checks. Without `keep_given` there is no
  // update() afterwards. The caller counts bytes. A client with too many examples is rejected before it
  // trains.
  JobResult train(const Cohort& cohort, const Job& job, const ExampleSource& source, const Give& give,
                  bool keep_given = true);

  // Of the last job: its trained weights, and its update, which the first call computes.
  std::span<const float> trained() const { return trained_; }
  std::span<float> update();

  // Frees the memory of the trained weights as soon as update() was called, and the rest with release().
  void keep_little_memory() { keep_little_ = true; }
  void release();

  LocalSgd& sgd() { return sgd_; }

 private:
  LocalSgd sgd_;
  Examples examples_;         // the client's
  AlignedFloats trained_;     // the sub-model's weights
  std::vector<float> given_;  // as they were before the training, then the update
  bool is_update_ = false;
  bool keep_little_ = false;
};

}  // namespace subfleet
