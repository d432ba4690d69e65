#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nn/augment.h"
#include "nn/cuda/client_steps.h"
#include "nn/cuda/example_store.h"
#include "nn/cuda/groups.h"
#include "nn/cuda/held_weights.h"
#include "nn/cuda/jobs.h"
#include "nn/cuda/network.h"
#include "nn/cuda/peak.h"
#include "nn/cuda/state.h"
#include "nn/cuda/wire.h"
#include "nn/jobs.h"
#include "nn/recently_used.h"
#include "nn/trainers.h"
#include "subfleet/error.h"
#include "subfleet/thread_pool.h"

namespace subfleet {
namespace cuda {
namespace {

uint32_t steps_of(uint32_t examples, const LocalTraining& how) {
  return how.epochs * ((examples + how.batch - 1) / how.batch);
}

size_t free_memory() {
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the GPU's memory");
  return free;
}

class CudaTrainer final : public Trainer {
 public:
  // Shares out the memory that is free now: what is left is for the server's states.
  CudaTrainer(ThreadPool& pool, const ExampleSource& source, bool tf32)
      : pool_(pool),
        tf32_(tf32),
        budget_(free_memory() / 5 * 2),
        store_(source, pool, budget_),
        networks_(2) {}

  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    if (const std::string misfit = cuda_misfit(model); !misfit.empty()) throw bad_request(model.name, misfit);
    return std::make_unique<CudaState>(model, options, stream_);
  }

  std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts) override {
    std::vector<std::vector<JobResult>> results;
    for (const Cohort& cohort : cohorts) {
      check_cohort(cohort, state_of(cohort.state).size());
      if (is_augmented(cohort.how)) {
        throw bad_request(cohort.how.flip ? "round.flip" : "round.crop",
                          "pictures are not changed on a GPU yet; use --device cpu");
      }
      results.emplace_back(cohort.jobs.size());
    }
    std::vector<Place> places = places_of(cohorts, results);
    std::span<Place> left = places;
    while (!left.empty()) {
      const size_t wave = wave_size(cohorts, left, budget_);
      train_wave(cohorts, left.first(wave), results);
      left = left.subspan(wave);
    }
    return results;
  }

  std::vector<Evaluation> evaluate(ServerState& state, size_t first, size_t count) override {
    const CudaState& mine = state_of(&state);
    const StoredExamples test = store_.test_set(mine.model(), kEvaluationChunk, stream_);
    check_chunks(first, count, test.count);
    JobNetwork& network = network_of({network_key(mine.model()), kEvaluationChunk, 0, 0});
    const size_t features = mine.model().input.size();
    const auto classes = static_cast<int>(class_count(mine.model()));
    const size_t most = std::clamp<size_t>(
        budget_ / network_bytes_per_job(mine.model(), kEvaluationChunk, false, 0), 1, 128);  // chunks at once
    network.reserve(static_cast<int>(std::min(most, count)), false);
    chunk_losses_.grow(count);
    chunk_correct_.grow(count);
    for (size_t done = 0; done < count; done += most) {
      const size_t chunks = std::min(most, count - done), begin = (first + done) * kEvaluationChunk;
      const size_t examples = std::min(chunks * kEvaluationChunk, test.count - begin);
      // Inference only reads the weights, which all chunks share.
      const Step step{.stream = stream_,
                      .jobs = static_cast<int>(chunks),
                      .rows = kEvaluationChunk,
                      .weights = const_cast<float*>(mine.device_tested_weights()),
                      .stride = 0,
                      .client_lr = 0};
      const float* logits = network.forward(step, test.inputs + begin * features);
      score_chunks(logits, test.labels + begin, static_cast<int>(examples), kEvaluationChunk, classes,
                   chunk_losses_.data() + done, chunk_correct_.data() + done, stream_);
    }
    std::vector<double> losses(count);
    std::vector<uint32_t> correct(count);
    chunk_losses_.download(losses, stream_);
    chunk_correct_.download(correct, stream_);
    std::vector<Evaluation> chunks;
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = (first + i) * kEvaluationChunk;
      chunks.push_back({.examples = std::min<size_t>(kEvaluationChunk, test.count - begin),
                        .correct = correct[i],
                        .loss = losses[i]});
    }
    return chunks;
  }

 private:
  JobNetwork& network_of(const NetworkKey& key) {
    return *networks_.get(key, [&](const NetworkKey& wanted) {
      return std::make_unique<JobNetwork>(wanted.model, static_cast<int>(wanted.rows), tf32_, wanted.history);
    });
  }

  // The jobs that train: one without examples, or with too many, has its result at once.
  std::vector<Place> places_of(std::span<const Cohort> cohorts,
                               std::vector<std::vector<JobResult>>& results) {
    std::vector<Place> places;
    store_.make_room();
    for (size_t c = 0; c < cohorts.size(); ++c) {
      const Cohort& cohort = cohorts[c];
      std::vector<uint32_t> clients;
      for (const Job& job : cohort.jobs) clients.push_back(job.client);
      const std::vector<StoredExamples> examples = store_.of_clients(clients, *cohort.model, stream_);
      for (size_t j = 0; j < cohort.jobs.size(); ++j) {
        JobResult& result = results[c][j];
        result.outcome = JobOutcome::kTrained;
        result.examples = examples[j].count;
        result.bytes_down = cohort.wire.down->encoded_size(cohort.jobs[j].submodel->size());
        if (auto fault = fault_in(result, cohort.rows)) {
          result.outcome = JobOutcome::kRejected;
          result.why = std::move(*fault);
          continue;
        }
        result.bytes_up = cohort.wire.up->encoded_size(cohort.jobs[j].submodel->size());
        if (result.examples == 0) continue;
        places.push_back({.cohort = c,
                          .job = j,
                          .examples = examples[j],
                          .steps = steps_of(examples[j].count, cohort.how)});
      }
    }
    return places;
  }

  void train_wave(std::span<const Cohort> cohorts, std::span<Place> places,
                  std::vector<std::vector<JobResult>>& results) {
    std::vector<Group> groups = groups_of(cohorts, places);
    networks_.make_room(groups.size() + 1);  // and the one of evaluation
    weights_.resize(std::max(weights_.size(), groups.size()));
    given_.resize(weights_.size());
    steps_.resize(weights_.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      make_room(groups[g], weights_[g], given_[g], cohorts, places);
      groups[g].steps = &steps_[g];
      groups[g].steps->reserve(groups[g].rule, groups[g].stride * groups[g].places.size());
    }
    upload_jobs(groups, cohorts, places);

    // The jobs of a cohort lie one after the other in a wave.
    std::vector<std::span<Place>> of_cohorts(cohorts.size());
    for (size_t begin = 0; begin < places.size();) {
      size_t end = begin;
      while (end < places.size() && places[end].cohort == places[begin].cohort) ++end;
      of_cohorts[places[begin].cohort] = places.subspan(begin, end - begin);
      begin = end;
    }
    if (held_.size() < cohorts.size()) held_ = std::vector<HeldWeights>(cohorts.size());
    for (size_t c = 0; c < cohorts.size(); ++c) {
      if (!of_cohorts[c].empty()) give_out(cohorts[c], of_cohorts[c], held_[c]);
    }
    train_groups(groups, cohorts, places);
    loss_sums_.grow(places.size());
    correct_sums_.grow(places.size());
    sum_scores(jobs_.data(), static_cast<int>(places.size()), loss_sums_.data(), correct_sums_.data(),
               stream_);
    for (size_t c = 0; c < cohorts.size(); ++c) {
      if (of_cohorts[c].empty()) continue;
      take_back(cohorts[c], of_cohorts[c], held_[c],
                loss_sums_.data() + (of_cohorts[c].data() - places.data()));
    }
    // The host waits only when all of it is on its way.
    const std::vector<double> losses = downloaded(loss_sums_.data(), places.size());
    const std::vector<uint32_t> correct = downloaded(correct_sums_.data(), places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const Cohort& cohort = cohorts[places[i].cohort];
      set_means(results[places[i].cohort][places[i].job], cohort.how, losses[i], correct[i]);
    }
    for (size_t c = 0; c < cohorts.size(); ++c) {
      if (!of_cohorts[c].empty()) judge(cohorts[c], of_cohorts[c], held_[c], results[c]);
    }
  }

  // Weights of all jobs one after the other, each beginning a line of the cache.
  void make_room(Group& group, Buffer<float>& weights, Buffer<float>& given, std::span<const Cohort> cohorts,
                 std::span<Place> places) {
    constexpr size_t kLine = 32;
    const Place& any = places[group.places.front()];
    group.size = cohorts[any.cohort].jobs[any.job].submodel->size();
    group.stride = (group.size + kLine - 1) / kLine * kLine;
    weights.grow(group.stride * group.places.size());
    group.weights = weights.data();
    const bool lossy = std::ranges::any_of(
        group.places, [&](size_t i) { return !is_lossless(cohorts[places[i].cohort].wire); });
    if (lossy) given.grow(group.stride * group.places.size());
    for (size_t i = 0; i < group.places.size(); ++i) {
      Place& place = places[group.places[i]];
      place.weights = group.weights + i * group.stride;
      place.given = lossy ? given.data() + i * group.stride : nullptr;
    }
    group.network = &network_of(group.key);
    group.network->reserve(static_cast<int>(group.places.size()), true);
  }

  // Says which examples each job trains on, in which order, and where its scores go.
  void upload_jobs(std::vector<Group>& groups, std::span<const Cohort> cohorts, std::span<Place> places) {
    size_t total = 0;
    for (Place& place : places) {
      place.order = total;
      total += size_t{place.examples.count} * cohorts[place.cohort].how.epochs;
    }
    host_orders_.resize(total);
    pool_.parallel_for(places.size(), [&](size_t i, size_t) { shuffle(cohorts, places[i]); });
    orders_.grow(total);
    losses_.grow(total);
    correct_.grow(total);
    orders_.upload(host_orders_, stream_);

    std::vector<DeviceJob> jobs;
    for (Group& group : groups) {
      group.first_job = jobs.size();
      for (const size_t i : group.places) {
        const Place& place = places[i];
        jobs.push_back({.inputs = place.examples.inputs,
                        .labels = place.examples.labels,
                        .order = orders_.data() + place.order,
                        .losses = losses_.data() + place.order,
                        .correct = correct_.data() + place.order,
                        .examples = place.examples.count,
                        .epochs = cohorts[place.cohort].how.epochs,
                        .slot = static_cast<uint32_t>(i)});
      }
    }
    jobs_.grow(jobs.size());
    jobs_.upload(jobs, stream_);
  }

  void shuffle(std::span<const Cohort> cohorts, const Place& place) {
    const Cohort& cohort = cohorts[place.cohort];
    Random random(job_key(cohort, cohort.jobs[place.job], Purpose::kBatchOrder));
    const size_t count = place.examples.count;
    for (uint32_t epoch = 0; epoch < cohort.how.epochs; ++epoch) {
      const auto order = std::span(host_orders_).subspan(place.order + epoch * count, count);
      if (epoch > 0) std::copy_n(order.begin() - static_cast<std::ptrdiff_t>(count), count, order.begin());
      order_examples(random, cohort.how, epoch, order);
    }
  }

  static std::vector<WireJob> wire_jobs(const Cohort& cohort, std::span<const Place> places,
                                        Purpose purpose) {
    std::vector<WireJob> jobs;
    for (const Place& place : places) {
      const Job& job = cohort.jobs[place.job];
      jobs.push_back({.values = place.weights,
                      .given = place.given,
                      .count = static_cast<uint32_t>(job.submodel->size()),
                      .key = job_key(cohort, job, purpose)});
    }
    return jobs;
  }

  // Every job gets its weights, through the codec.
  void give_out(const Cohort& cohort, std::span<const Place> places, HeldWeights& held) {
    std::vector<HeldJob> jobs;
    for (const Place& place : places) {
      jobs.push_back({.submodel = cohort.jobs[place.job].submodel,
                      .values = place.weights,
                      .examples = place.examples.count});
    }
    held.set(jobs, stream_);
    held.gather(state_of(cohort.state).device_weights(), stream_);
    if (is_lossless(cohort.wire)) return;
    wire_.send_down(*cohort.wire.down, wire_jobs(cohort, places, Purpose::kWireDown), stream_);
  }

  void train_groups(std::vector<Group>& groups, std::span<const Cohort> cohorts,
                    std::span<const Place> places) {
    uint32_t steps = 0;
    for (const Group& group : groups) {
      const uint32_t most = places[group.places.front()].steps;
      steps = std::max(steps, most);
      group.network->stream().follow(stream_);
      const Step first = step_of(group, group.places.size(), 0);
      group.network->begin_round(first, static_cast<int>(most));
      group.steps->begin(first, group.size);
    }
    for (uint32_t step = 0; step < steps; ++step) {
      for (const Group& group : groups) {
        const auto active =
            std::ranges::count_if(group.places, [&](size_t i) { return places[i].steps > step; });
        if (active > 0) take_step(group, static_cast<size_t>(active), step, cohorts, places);
      }
    }
    for (const Group& group : groups) group.network->end_round(step_of(group, group.places.size(), steps));
    for (const Group& group : groups) stream_.follow(group.network->stream());
  }

  static Step step_of(const Group& group, size_t jobs, uint32_t index) {
    return {.stream = group.network->stream(),
            .jobs = static_cast<int>(jobs),
            .rows = static_cast<int>(group.key.rows),
            .weights = group.weights,
            .stride = group.stride,
            .client_lr = group.rule.lr,
            .index = index,
            .whole = group.whole};
  }

  void take_step(const Group& group, size_t active, uint32_t index, std::span<const Cohort> cohorts,
                 std::span<const Place> places) {
    JobNetwork& network = *group.network;
    const ModelSpec& model = *cohorts[places[group.places.front()].cohort].model;
    const DeviceJob* jobs = jobs_.data() + group.first_job;
    const Step step = step_of(group, active, index);
    fill_batches(jobs, step.jobs, step.rows, index, static_cast<int>(model.input.size()), network.input(),
                 step.stream);
    const float* logits = network.forward(step, network.input());
    score_batches(jobs, step.jobs, step.rows, index, logits, static_cast<int>(class_count(model)),
                  network.logits_gradient(), step.stream);
    network.backward(step, network.input());
    group.steps->finish(step, group.size);
  }

  // Every job's update, through the codec, is added to the state's sum, unless it is refused.
  void take_back(const Cohort& cohort, std::span<const Place> places, HeldWeights& held,
                 const double* losses) {
    CudaState& state = state_of(cohort.state);
    const bool exact = is_lossless(cohort.wire);
    if (!exact) wire_.send_up(*cohort.wire.up, wire_jobs(cohort, places, Purpose::kWireUp), stream_);
    const float* whole = exact ? state.device_weights() : nullptr;
    held.inspect(whole, losses, cohort.squared_norms, stream_);
    held.merge(whole, state.sums(), state.holders(), stream_);
  }

  // Which of them were refused, and how far the others moved.
  void judge(const Cohort& cohort, std::span<const Place> places, HeldWeights& held,
             std::vector<JobResult>& results) {
    const std::vector<uint32_t> refused = downloaded(held.refused(), places.size());
    std::vector<double> norms;
    if (cohort.squared_norms) norms = downloaded(held.squared_norms(), places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      JobResult& result = results[places[i].job];
      if (cohort.squared_norms) result.squared_norm = norms[i];
      if (refused[i] != 0) {
        result.outcome = JobOutcome::kDiverged;
      } else {
        state_of(cohort.state).add_examples(result.examples);
      }
    }
  }

  template <typename T>
  std::vector<T> downloaded(const T* from, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
          "copying from the GPU");
    stream_.wait();
    return values;
  }

  ThreadPool& pool_;
  bool tf32_;
  size_t budget_;  // bytes, for the jobs of a wave and for the clients' examples each
  Stream stream_;
  ExampleStore store_;
  RecentlyUsed<NetworkKey, std::unique_ptr<JobNetwork>> networks_;
  std::vector<Buffer<float>> weights_, given_;  // of the groups
  std::vector<ClientSteps> steps_;              // the same
  WireKernels wire_;
  std::vector<HeldWeights> held_;  // of the cohorts
  std::vector<uint32_t> host_orders_;
  Buffer<uint32_t> orders_, correct_, correct_sums_, chunk_correct_;
  Buffer<double> losses_, loss_sums_, chunk_losses_;
  Buffer<DeviceJob> jobs_;
};

std::unique_ptr<Trainer> make(ThreadPool& pool, const ExampleSource& source, bool tf32) {
  use_gpu();
  return std::make_unique<CudaTrainer>(pool, source, tf32);
}

}  // namespace
}  // namespace cuda

bool has_cuda_trainer() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count > 0;
  cudaGetLastError();
  return false;
}

void wake_cuda() {
  try {
    cuda::use_gpu();
  } catch (const Error&) {  // make_cuda_trainer throws it again
  }
}

std::unique_ptr<Trainer> make_cuda_trainer(ThreadPool& pool, const ExampleSource& source) {
  return cuda::make(pool, source, false);
}
std::unique_ptr<Trainer> make_cuda_tf32_trainer(ThreadPool& pool, const ExampleSource& source) {
  return cuda::make(pool, source, true);
}

std::string cuda_kernels() { return cuda::gpu_name(); }
double cuda_peak(ThreadPool&) { return cuda::f32_peak(); }
uint64_t cuda_memory() { return cuda::memory_peak(); }

}  // namespace subfleet
