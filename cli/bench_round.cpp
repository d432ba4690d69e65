#include "bench_round.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "subfleet/base/peak_memory.h"
#include "subfleet/error.h"
#include "subfleet/layer_sites.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/search/candidate_runs.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"

namespace subfleet::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Examples random_examples(const ModelSpec& model, uint32_t count, uint32_t client) {
  Random random({.seed = 1, .client = client});
  const LayerSpec& first = model.layers.front();
  const auto symbols = static_cast<uint32_t>(first.type == "embedding" ? first.symbols : 0);
  const auto classes = static_cast<uint32_t>(class_count(model));
  Examples examples{.features = model.input.size(), .inputs = {}, .labels = {}};
  examples.inputs.reserve(count * examples.features);
  for (size_t i = 0; i < count * examples.features; ++i) {
    examples.inputs.push_back(symbols > 0 ? static_cast<float>(random.below(symbols))
                                          : static_cast<float>(random.uniform()));
  }
  for (uint32_t i = 0; i < count; ++i) examples.labels.push_back(static_cast<int32_t>(random.below(classes)));
  return examples;
}

// Clients whose examples lie ready, so that only the round is timed.
class ReadyFederation final : public Federation {
 public:
  ReadyFederation(const RoundCase& work, const ModelSpec& model)
      : input_(model.input), classes_(static_cast<uint32_t>(class_count(model))) {
    for (uint32_t client = 0; client < work.clients; ++client)
      examples_.push_back(random_examples(model, work.samples, client));
  }

  uint32_t clients() const override { return static_cast<uint32_t>(examples_.size()); }
  Shape input() const override { return input_; }
  uint32_t classes() const override { return classes_; }
  void read(uint32_t client, Examples& into) const override { into = examples_[client]; }
  uint32_t samples(uint32_t client) const override {
    return static_cast<uint32_t>(examples_[client].count());
  }
  uint64_t fingerprint() const override { return 0; }
  std::string class_name(uint32_t label) const override { return fmt::format("{}", label); }

 private:
  Shape input_;
  uint32_t classes_;
  std::vector<Examples> examples_;
};

ModelSpec kept_part(ModelSpec model, double keep) {
  for (LayerSpec& layer : model.layers) {
    if (layer.droppable)
      layer.units = static_cast<size_t>(std::lround(keep * static_cast<double>(layer.units)));
  }
  return model;
}

// The settings of one of the runs: draws and a server learning rate of its own, as in a search.
Config candidate_of(const RoundCase& work, uint32_t index) {
  Config config;
  config.model = work.model;
  config.round.clients = work.clients;
  config.round.batch = work.batch;
  config.round.client_lr = 1e-3f;  // examples of noise: no model may diverge on them
  config.wire = work.wire;
  config.code = {.family = work.keep < 1 ? "random" : "none", .keep = work.keep};
  config.run.first_draw += index * kDrawsApart;
  config.server.lr = default_server_lr(config.server.optimizer) / (1 + index);
  validate(config);
  return config;
}

RoundSpeed measure_here(const RoundCase& work) {
  const ModelSpec model = resolve_model(work.model);
  ThreadPool pool(work.threads);
  LocalFleet fleet({std::make_unique<ReadyFederation>(work, model), 0, 0.0}, work.device, pool, 1);
  std::vector<Run> runs;
  for (uint32_t index = 0; index < work.candidates; ++index)
    runs.emplace_back(candidate_of(work, index), fleet);
  const auto train_all = [&] {
    std::vector<Cohort> cohorts;
    for (Run& run : runs) cohorts.push_back(run.begin_round());
    return fleet.train(cohorts);
  };
  const auto end_all = [&](const std::vector<std::vector<JobResult>>& results) {
    for (size_t i = 0; i < runs.size(); ++i) runs[i].end_round(results[i]);
  };
  end_all(train_all());  // makes the plans and touches the memory

  const ModelSpec part = kept_part(model, work.keep);
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  RoundSpeed speed{
      .seconds = kForEver,
      .step_seconds = kForEver,
      .operations = training_operations(part) * work.clients * work.samples * work.rounds * work.candidates,
      .parameters = parameter_count(part),
      .threads = static_cast<uint32_t>(pool.threads())};
  for (uint32_t time = 0; time < work.repeat; ++time) {
    speed.peak = std::max(speed.peak, trainer_peak(work.device, pool));
    const Clock::time_point start = Clock::now();
    for (uint32_t round = 0; round < work.rounds; ++round) {
      const std::vector<std::vector<JobResult>> results = train_all();
      const Clock::time_point stepping = Clock::now();
      end_all(results);
      speed.step_seconds = std::min(speed.step_seconds, seconds_since(stepping) / work.candidates);
    }
    speed.seconds = std::min(speed.seconds, seconds_since(start));
  }
  const uint64_t own = trainer_memory(work.device);
  speed.memory = own > 0 ? own : peak_memory();
  trainer_kernels(work.device).copy(speed.kernels.data(), speed.kernels.size() - 1);
  return speed;
}

RoundSpeed federation_here(uint32_t writers) {
  Config config;
  config.model.name = "emnist-mlp";
  config.data.writers = writers;
  validate(config);
  ThreadPool pool(0);
  LocalFleet fleet(open_split_federation(config.data), "cpu", pool, 1000);
  Run run(config, fleet);
  run.step();
  return {.memory = peak_memory()};
}

// What a child process has to tell.
struct Answer {
  bool ok = false;
  RoundSpeed speed;
  Error::Kind kind = Error::Kind::kFailure;
  std::array<char, 512> why{};
};

template <typename Work>
Answer answer_of(const Work& work) {
  Answer answer;
  try {
    answer.speed = work();
    answer.ok = true;
  } catch (const Error& error) {
    answer.kind = error.kind();
    std::strncpy(answer.why.data(), error.what(), answer.why.size() - 1);
  } catch (const std::exception& error) {
    std::strncpy(answer.why.data(), error.what(), answer.why.size() - 1);
  }
  return answer;
}

template <typename Work>
RoundSpeed in_own_process(const Work& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw failure("bench", "no pipe to a process of its own");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw failure("bench", "no process of its own; is there memory left?");
  if (child == 0) {
    const Answer answer = answer_of(work);
    const bool written = write(ends[1], &answer, sizeof answer) == sizeof answer;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Answer answer;
  const bool heard = read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!heard) throw failure("bench", "the measuring process died; is there memory left?");
  if (!answer.ok) throw Error(answer.kind, fmt::format("bench: {}", answer.why.data()));
  return answer.speed;
}

}  // namespace

RoundSpeed measure_round(const RoundCase& work) {
  return in_own_process([&] { return measure_here(work); });
}

uint64_t federation_memory(uint32_t writers) {
  return in_own_process([&] { return federation_here(writers); }).memory;
}

}  // namespace subfleet::cli
