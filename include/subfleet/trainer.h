#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/examples.h"
#include "subfleet/random.h"
#include "subfleet/round.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/server_state.h"

namespace subfleet {

class ThreadPool;

// Thrown by training and tests that were told to stop (Trainer::stop_on(), Fleet::stop_on()): nothing of them
// is kept.
struct Interrupted {};

// Test examples are scored in chunks of this many, so that a mean has the same bits for any number of threads
// and ranks.
inline constexpr size_t kEvaluationChunk = 100;
constexpr size_t chunk_count(size_t examples) { return (examples + kEvaluationChunk - 1) / kEvaluationChunk; }

// Runs the arithmetic of jobs and of the server, on one device. A job's update depends on the job alone: not
// on the number of threads, nor on who else trains.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // A run's state on this device: weights and moments at zero.
  virtual std::unique_ptr<ServerState> make_state(const ModelSpec& model,
                                                  const OptimizerOptions& options) = 0;

  // Trains every job of every cohort, whose states this trainer has made, and adds the updates to the states'
  // sums; one result per job, in order. Sub-models and updates go through the cohort's codecs as they would
  // over a network; the results' bytes are those of the encoded weights and updates.
  virtual std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts) = 0;

  // How a state's whole model does on the test set: the sums of `count` chunks, beginning with `first`.
  virtual std::vector<Evaluation> evaluate(ServerState& state, size_t first, size_t count) = 0;

  // From here on train() and evaluate() look at the flag now and then, and throw Interrupted while it is set.
  // Returns whether this device can; if not, what it does ends first.
  virtual bool stop_on(const std::atomic<bool>& flag) {
    static_cast<void>(flag);
    return false;
  }
};

// `reference` (plain loops, the truth), `cpu` (oneDNN), `cuda` (one NVIDIA GPU) or `cuda-tf32` (the same with
// TF32 products). Throws Error naming the nearest, or saying why it is missing. The pool and the source must
// outlive the trainer.
std::unique_ptr<Trainer> make_trainer(std::string_view device, ThreadPool& pool, const ExampleSource& source);
std::vector<std::string> trainer_names();
// Includes devices that this build lacks.
std::vector<std::string> device_names();

// Does the slow part of starting the device (a GPU has to be woken); meant for a thread that runs while data
// are read. If something is wrong, make_trainer says so.
void wake_device(std::string_view device);

// What the device computes with ("avx512"), for a run's provenance; empty if there is no choice.
std::string trainer_kernels(std::string_view device);

// For benchmarks: floating-point operations per second that it reaches in registers alone (0: unknown), and
// the most memory of its own, beyond the process', that it has used (0: it has none).
double trainer_peak(std::string_view device, ThreadPool& pool);
uint64_t trainer_memory(std::string_view device);

// The steps that all trainers share, and a client that trains by itself.
//
// The order of a client's examples in an epoch, counted from 0, out of that of the epoch before. `random` is
// of the job's Purpose::kBatchOrder and goes on from epoch to epoch.
void order_examples(Random& random, const LocalTraining& how, uint32_t epoch, std::span<uint32_t> order);
// An example as a client sees it: mirrored and moved as `how` says. `key` is of the job's Purpose::kAugment,
// and `seen` counts the examples that the client has seen in this round, from 0.
void augment(const RandomKey& key, uint32_t seen, const LocalTraining& how, const Shape& shape,
             std::span<const float> example, std::span<float> into);
// A client's update: `given` becomes the f32 difference of the trained and the given weights.
void make_update(std::span<const float> trained, std::span<float> given);
// Replaces `message` by the update as it travels: the cohort's codec `up` encodes it.
void encode_update(const Cohort& cohort, const Job& job, std::span<const float> update,
                   std::vector<std::byte>& message);

}  // namespace subfleet
