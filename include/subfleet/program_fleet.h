#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "subfleet/batch_fleet.h"
#include "subfleet/server/model_texts.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

// A client's work, for a program that trains it.
struct ClientJob {
  uint32_t client = 0;
  uint64_t seed = 0;
  uint32_t draw = 0;  // with the seed and the client it names the job's random numbers
  const SubModel* submodel = nullptr;
  LocalTraining how;
  std::vector<float> weights = {};  // those given; the program puts the trained ones in their place
  JobResult result = {};            // the program sets examples, loss and accuracy
};

// Who trains and tests for a ProgramFleet: whatever knows the clients' data and the model's arithmetic, as a
// program that does both in PyTorch.
class ClientProgram {
 public:
  virtual ~ClientProgram() = default;
  virtual uint32_t clients() const = 0;
  virtual uint32_t classes() const = 0;
  virtual Shape input() const = 0;
  virtual uint64_t data_fingerprint() const = 0;
  // What runs begin with; empty: the model's own, which are zeros of a TensorModel.
  virtual std::vector<float> initial_weights() const { return {}; }

  // How many jobs it is given at a time.
  virtual size_t jobs_at_once() const = 0;
  virtual void train(std::span<ClientJob> jobs) = 0;
  virtual Evaluation test(std::span<const float> weights) = 0;
};

// A fleet inside this process whose clients another program trains; the codecs are applied and the bytes
// counted as a network would.
class ProgramFleet final : public BatchFleet {
 public:
  // Both outlive it.
  ProgramFleet(ClientProgram& program, ThreadPool& pool) : program_(program), pool_(pool) {}

  uint32_t clients() const override { return program_.clients(); }
  uint32_t classes() const override { return program_.classes(); }
  Shape input() const override { return program_.input(); }
  uint64_t data_fingerprint() const override { return program_.data_fingerprint(); }
  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override;
  std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed) const override;
  Evaluation evaluate(ServerState& state) override;
  void stop_on(const std::atomic<bool>& flag) override { stop_ = &flag; }
  bool can_be_stopped() const override { return true; }

 protected:
  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override;

 private:
  std::vector<JobResult> train_some(const Cohort& cohort, std::span<const Job> jobs);

  ClientProgram& program_;
  ThreadPool& pool_;
  ModelTexts texts_;
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace subfleet
