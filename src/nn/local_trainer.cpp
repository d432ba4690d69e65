#include "nn/local_trainer.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "nn/client_pipeline.h"
#include "nn/host_state.h"
#include "nn/jobs.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

HostState& host_state(ServerState* state) {
  auto* mine = dynamic_cast<HostState*>(state);
  if (mine == nullptr) throw failure("train", "the state was made by another device");
  return *mine;
}

// How many differently shaped sub-models there are: one per cohort, or as many as there are tiers.
size_t count_shapes(std::span<const Cohort> cohorts) {
  std::vector<ModelSpec> shapes;
  for (const Cohort& cohort : cohorts) {
    for (const Job& job : cohort.jobs) {
      ModelSpec shape = network_key(job.submodel->spec());
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
    }
  }
  return shapes.size();
}

// Where a job stands among the cohorts.
struct Place {
  size_t cohort = 0, job = 0;
};

// What one thread keeps between jobs and rounds.
struct Worker {
  ClientPipeline client;
  std::vector<float> logits = {};
  std::optional<PartialSum> sum = {};
  HostState* sum_is_for = nullptr;  // null before the first update
};

class LocalTrainer final : public Trainer {
 public:
  LocalTrainer(ThreadPool& pool, const ExampleSource& source, const NetworkFactory& make_network)
      : pool_(pool), source_(source) {
    workers_.reserve(pool.threads());
    for (size_t i = 0; i < pool.threads(); ++i) workers_.push_back({.client = ClientPipeline(make_network)});
  }

  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    return std::make_unique<HostState>(model, options, pool_);
  }

  std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts) override {
    std::vector<std::vector<JobResult>> results;
    std::vector<Place> places;
    for (size_t i = 0; i < cohorts.size(); ++i) {
      check_cohort(cohorts[i], host_state(cohorts[i].state).weights().size());
      results.emplace_back(cohorts[i].jobs.size());
      for (size_t job = 0; job < cohorts[i].jobs.size(); ++job) places.push_back({i, job});
    }
    const size_t shapes = count_shapes(cohorts);
    for (Worker& worker : workers_) {
      worker.client.sgd().make_room(shapes + 1);  // evaluation has one more, of the whole model
      worker.sum_is_for = nullptr;
    }
    pool_.parallel_for(places.size(), [&](size_t index, size_t worker) {
      check_stop();
      const Cohort& cohort = cohorts[places[index].cohort];
      const Job& job = cohort.jobs[places[index].job];
      results[places[index].cohort][places[index].job] = run_job(job, cohort, workers_[worker]);
    });
    for (Worker& worker : workers_) hand_in(worker);
    return results;
  }

  std::vector<Evaluation> evaluate(ServerState& state, size_t first, size_t count) override {
    const Examples& examples = source_.test_set();
    const ModelSpec& model = host_state(&state).model();
    check_examples(examples, model, "evaluation");
    check_chunks(first, count, examples.count());
    const std::span<const float> weights = state.tested_weights();
    const size_t classes = class_count(model);
    std::vector<Evaluation> chunks(count);
    pool_.parallel_for(count, [&](size_t chunk, size_t index) {
      check_stop();
      Worker& worker = workers_[index];
      const size_t begin = (first + chunk) * kEvaluationChunk;
      const size_t size = std::min(kEvaluationChunk, examples.count() - begin);
      worker.logits.resize(size * classes);
      worker.client.sgd().network(model, {}).infer(
          weights, std::span(examples.inputs).subspan(begin * examples.features, size * examples.features),
          worker.logits);
      const Score score =
          softmax_cross_entropy(worker.logits, std::span(examples.labels).subspan(begin, size), {});
      chunks[chunk] = {.examples = size, .correct = score.correct, .loss = score.loss};
    });
    return chunks;
  }

  bool stop_on(const std::atomic<bool>& flag) override {
    stop_ = &flag;
    for (Worker& worker : workers_) worker.client.sgd().stop_on(flag);
    return true;
  }

 private:
  void check_stop() const {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Interrupted();
  }

  // Weights and update pass through the codecs as they would over a network; what arrives is added.
  JobResult run_job(const Job& job, const Cohort& cohort, Worker& worker) {
    HostState& state = host_state(cohort.state);
    const Wire& wire = cohort.wire;
    JobResult result = worker.client.train(cohort, job, source_, [&](std::span<float> weights) {
      job.submodel->gather(state.weights(), weights);
      wire.down->transmit(weights, job_key(cohort, job, Purpose::kWireDown));
    });
    result.bytes_down = wire.down->encoded_size(job.submodel->size());
    if (result.outcome != JobOutcome::kTrained) return result;
    result.bytes_up = wire.up->encoded_size(job.submodel->size());
    worker.client.send(cohort, job, sum_for(state, worker), result);
    return result;
  }

  // The thread's own sum for that state, empty when it is taken up.
  PartialSum& sum_for(HostState& state, Worker& worker) {
    if (worker.sum_is_for != &state) {
      hand_in(worker);
      if (!worker.sum || worker.sum->size() != state.sum().size()) {
        worker.sum.emplace(state.sum().size());
      } else {
        worker.sum->clear();
      }
      worker.sum_is_for = &state;
    }
    return *worker.sum;
  }

  // A thread keeps a single sum for any number of cohorts: it hands one in before it begins the next.
  void hand_in(Worker& worker) {
    if (worker.sum_is_for == nullptr) return;
    const std::lock_guard lock(handing_in_);
    worker.sum_is_for->sum().merge(*worker.sum);
    worker.sum_is_for = nullptr;
  }

  ThreadPool& pool_;
  const ExampleSource& source_;
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<Worker> workers_;
  std::mutex handing_in_;
};

}  // namespace

std::unique_ptr<Trainer> make_local_trainer(ThreadPool& pool, const ExampleSource& source,
                                            const NetworkFactory& make_network) {
  return std::make_unique<LocalTrainer>(pool, source, make_network);
}

}  // namespace subfleet
