#include "nn/local_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "nn/aligned.h"
#include "nn/recently_used.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Fixed, so that the mean loss has the same bits for any number of threads.
constexpr size_t kEvaluationChunk = 100;

// A round has one shape of sub-model, or a few; evaluation adds the whole model.
constexpr size_t kKeptNetworks = 4;

// What decides the arithmetic of a model.
using NetworkKey = std::vector<std::pair<std::string, std::vector<size_t>>>;

NetworkKey network_key(const ModelSpec& model) {
  NetworkKey key{{"input", {model.input.channels, model.input.height, model.input.width}}};
  for (const LayerSpec& layer : model.layers) {
    key.push_back(
        {layer.type, {layer.units, layer.kernel, layer.stride, layer.symbols, layer.last_step ? 1u : 0u}});
  }
  return key;
}

void check_examples(const Examples& examples, const ModelSpec& model, const std::string& whose) {
  if (examples.features != model.input.size() ||
      examples.inputs.size() != examples.count() * examples.features) {
    throw bad_request(whose, fmt::format("examples of {} values, but {} wants {}", examples.features,
                                         model.name, model.input.size()));
  }
  const auto classes = static_cast<int64_t>(class_count(model));
  for (const int32_t label : examples.labels) {
    if (label < 0 || label >= classes) {
      throw bad_request(
          whose, fmt::format("label {} is not below the {} classes of {}", label, classes, model.name));
    }
  }
}

void check_cohort(const Cohort& cohort) {
  if (cohort.how.epochs == 0) throw bad_request("round.epochs", "0 epochs; at least 1 is wanted");
  if (cohort.how.batch == 0) throw bad_request("round.batch", "0 examples in a batch; at least 1 is wanted");
  if (cohort.sum->size() != cohort.weights.size()) {
    throw bad_request("train", fmt::format("a sum of {} weights for a model of {}", cohort.sum->size(),
                                           cohort.weights.size()));
  }
}

// How far a trained sub-model is from the whole model it was taken from.
double squared_distance(const SubModel& held, std::span<const float> whole, std::span<const float> trained) {
  double sum = 0;
  held.for_each_run([&](size_t full, size_t sub, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const double moved = static_cast<double>(trained[sub + i]) - static_cast<double>(whole[full + i]);
      sum += moved * moved;
    }
  });
  return sum;
}

// Where a job stands among the cohorts.
struct Place {
  size_t cohort = 0, job = 0;
};

// What one thread keeps between jobs and rounds.
struct Worker {
  RecentlyUsed<NetworkKey, std::unique_ptr<Network>> networks{kKeptNetworks};
  Examples examples;            // the client's
  std::vector<uint32_t> order;  // of them
  AlignedFloats trained;        // the sub-model's weights
  Examples batch;
  std::vector<float> logits;
  std::optional<PartialSum> sum;
  PartialSum* sum_is_for = nullptr;  // the cohort's; none before the first update
};

class LocalTrainer final : public Trainer {
 public:
  LocalTrainer(ThreadPool& pool, NetworkFactory make_network)
      : pool_(pool), make_network_(std::move(make_network)), workers_(pool.threads()) {}

  std::vector<std::vector<JobReport>> train_together(std::span<const Cohort> cohorts,
                                                     const ReadExamples& read_examples) override {
    std::vector<std::vector<JobReport>> reports;
    std::vector<Place> places;
    for (size_t i = 0; i < cohorts.size(); ++i) {
      check_cohort(cohorts[i]);
      reports.emplace_back(cohorts[i].jobs.size());
      for (size_t job = 0; job < cohorts[i].jobs.size(); ++job) places.push_back({i, job});
    }
    for (Worker& worker : workers_) worker.sum_is_for = nullptr;
    pool_.parallel_for(places.size(), [&](size_t index, size_t worker) {
      const Cohort& cohort = cohorts[places[index].cohort];
      const Job& job = cohort.jobs[places[index].job];
      Examples& examples = workers_[worker].examples;
      read_examples(job.client, examples);
      check_examples(examples, job.submodel->spec(), fmt::format("client {}", job.client));
      reports[places[index].cohort][places[index].job] = run_job(job, cohort, workers_[worker]);
    });
    for (Worker& worker : workers_) hand_in(worker);
    return reports;
  }

  Evaluation evaluate(const ModelSpec& model, std::span<const float> weights,
                      const Examples& examples) override {
    check_examples(examples, model, "evaluation");
    if (const size_t count = parameter_count(model); weights.size() != count) {
      throw bad_request("evaluation",
                        fmt::format("{} weights, but {} has {}", weights.size(), model.name, count));
    }
    const size_t classes = class_count(model);
    std::vector<Score> scores((examples.count() + kEvaluationChunk - 1) / kEvaluationChunk);
    pool_.parallel_for(scores.size(), [&](size_t chunk, size_t index) {
      Worker& worker = workers_[index];
      const size_t first = chunk * kEvaluationChunk;
      const size_t count = std::min(kEvaluationChunk, examples.count() - first);
      worker.logits.resize(count * classes);
      network(model, worker)
          .infer(weights,
                 std::span(examples.inputs).subspan(first * examples.features, count * examples.features),
                 worker.logits);
      scores[chunk] =
          softmax_cross_entropy(worker.logits, std::span(examples.labels).subspan(first, count), {});
    });
    Evaluation result{.examples = examples.count()};
    for (const Score& score : scores) {
      result.correct += score.correct;
      result.loss += score.loss;
    }
    if (result.examples > 0) result.loss /= static_cast<double>(result.examples);
    return result;
  }

 private:
  Network& network(const ModelSpec& model, Worker& worker) {
    return *worker.networks.get(network_key(model), [&](const NetworkKey&) { return make_network_(model); });
  }

  JobReport run_job(const Job& job, const Cohort& cohort, Worker& worker) {
    const LocalTraining& how = cohort.how;
    JobReport report{.examples = static_cast<uint32_t>(worker.examples.count())};
    if (report.examples == 0) return report;
    worker.trained.resize(job.submodel->size());
    job.submodel->gather(cohort.weights, worker.trained);

    Network& net = network(job.submodel->spec(), worker);
    Random random(job.batch_order);
    std::vector<uint32_t>& order = worker.order;
    order.resize(report.examples);
    std::iota(order.begin(), order.end(), 0u);
    Score total;
    for (uint32_t epoch = 0; epoch < how.epochs; ++epoch) {
      if (how.shuffle) random.shuffle(std::span(order));
      for (size_t first = 0; first < order.size(); first += how.batch) {
        const size_t count = std::min<size_t>(how.batch, order.size() - first);
        fill_batch(worker.examples, std::span(order).subspan(first, count), worker.batch);
        const Score score =
            net.train_step(worker.trained, {worker.batch.inputs, worker.batch.labels}, how.client_lr);
        total.loss += score.loss;
        total.correct += score.correct;
      }
    }
    const double seen = static_cast<double>(how.epochs) * report.examples;
    report.loss = total.loss / seen;
    report.accuracy = static_cast<double>(total.correct) / seen;
    add_update(job, cohort, worker, report);
    return report;
  }

  static void fill_batch(const Examples& examples, std::span<const uint32_t> chosen, Examples& batch) {
    batch.reset(examples.features, chosen.size());
    for (const uint32_t index : chosen) batch.append(examples.input(index), examples.labels[index]);
  }

  void add_update(const Job& job, const Cohort& cohort, Worker& worker, JobReport& report) {
    if (worker.sum_is_for != cohort.sum) {
      hand_in(worker);
      if (!worker.sum || worker.sum->size() != cohort.sum->size()) {
        worker.sum.emplace(cohort.sum->size());
      } else {
        worker.sum->clear();
      }
      worker.sum_is_for = cohort.sum;
    }
    report.diverged = !worker.sum->add(*job.submodel, cohort.weights, worker.trained, report.examples);
    if (cohort.how.squared_norms)
      report.squared_norm = squared_distance(*job.submodel, cohort.weights, worker.trained);
  }

  // A thread keeps one sum, whatever the number of cohorts: it takes up the next when it has handed in this.
  void hand_in(Worker& worker) {
    if (worker.sum_is_for == nullptr) return;
    const std::lock_guard lock(handing_in_);
    worker.sum_is_for->merge(*worker.sum);
    worker.sum_is_for = nullptr;
  }

  ThreadPool& pool_;
  NetworkFactory make_network_;
  std::vector<Worker> workers_;
  std::mutex handing_in_;
};

}  // namespace

std::unique_ptr<Trainer> make_local_trainer(ThreadPool& pool, NetworkFactory make_network) {
  return std::make_unique<LocalTrainer>(pool, std::move(make_network));
}

}  // namespace subfleet
