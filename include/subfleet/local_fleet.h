#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/batch_fleet.h"
#include "subfleet/data.h"
#include "subfleet/server/model_texts.h"
#include "subfleet/trainer.h"

namespace subfleet {

// A fleet inside this process: every client's data are at hand, and one trainer runs the jobs. The codecs are
// applied and the bytes counted as a network would.
class LocalFleet final : public BatchFleet {
 public:
  // Evaluates with about `eval_samples` test examples, the same ones each time; 0 is all of them. The pool
  // outlives it.
  LocalFleet(SplitFederation data, std::string_view device, ThreadPool& pool, uint64_t eval_samples);

  uint32_t clients() const override { return data_.clients(); }
  uint32_t classes() const override { return data_.all().classes(); }
  Shape input() const override { return data_.all().input(); }
  uint64_t data_fingerprint() const override { return data_.all().fingerprint(); }
  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    return trainer_->make_state(model, options);
  }
  Evaluation evaluate(ServerState& state) override;
  Evaluation evaluate(ServerState& state, uint32_t client) override;
  void stop_on(const std::atomic<bool>& flag) override { can_be_stopped_ = trainer_->stop_on(flag); }
  bool can_be_stopped() const override { return can_be_stopped_; }

  const SplitFederation& data() const { return data_; }

  // The sums of `count` chunks of the test set, beginning with `first`: for ranks that share a test.
  size_t evaluation_chunks() const { return chunk_count(examples_.test_set().count()); }
  std::vector<Evaluation> evaluate(ServerState& state, size_t first, size_t count) {
    return trainer_->evaluate(state, first, count);
  }

 protected:
  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override;

 private:
  // The data as a trainer sees them. The test set is made when it is first needed.
  class FleetExamples final : public ExampleSource {
   public:
    FleetExamples(const SplitFederation& data, uint64_t eval_samples)
        : data_(data), eval_samples_(eval_samples) {}
    void read_train(uint32_t client, Examples& into) const override { data_.read_train(client, into); }
    const Examples& test_set() const override;

   private:
    const SplitFederation& data_;
    uint64_t eval_samples_;
    mutable std::once_flag made_;
    mutable Examples test_set_;
  };

  SplitFederation data_;
  std::string device_;
  ThreadPool& pool_;
  FleetExamples examples_;
  std::unique_ptr<Trainer> trainer_;
  bool can_be_stopped_ = false;
  ModelTexts texts_;
};

}  // namespace subfleet
