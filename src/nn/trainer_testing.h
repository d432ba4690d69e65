#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "nn/network_testing.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"

namespace subfleet {

inline ModelSpec small_cnn() {
  return {"small-cnn",
          {1, 8, 8},
          {{.type = "conv2d", .name = "conv1", .units = 4, .kernel = 3},
           {.type = "relu"},
           {.type = "maxpool", .kernel = 2},
           {.type = "conv2d", .name = "conv2", .units = 6, .kernel = 3, .droppable = true},
           {.type = "relu"},
           {.type = "maxpool", .kernel = 2},
           {.type = "flatten"},
           {.type = "dense", .name = "dense1", .units = 10, .droppable = true},
           {.type = "relu"},
           {.type = "dense", .name = "dense2", .units = 5}}};
}

inline ModelSpec small_char_lstm() {
  return {"small-char-lstm",
          {1, 9, 1},
          {{.type = "embedding", .name = "embedding", .units = 3, .symbols = 5},
           {.type = "lstm", .name = "lstm1", .units = 6, .droppable = true},
           {.type = "lstm", .name = "lstm2", .units = 10, .last_step = true, .droppable = true},
           {.type = "dense", .name = "dense", .units = 5}}};
}

// Their two droppable layers have 6 and 10 units.
inline std::vector<ModelSpec> small_droppable_models() { return {small_cnn(), small_char_lstm()}; }

// The same for what a GPU does not train: groups of units that several layers make, groups of channels that
// sub-models keep unequal parts of, heads, and logits at every step.
inline std::vector<ModelSpec> small_droppable_graphs() {
  return {{"small-resnet",
           {1, 8, 8},
           {{.type = "conv2d", .name = "conv1", .units = 6, .kernel = 3, .droppable = true},
            {.type = "groupnorm", .name = "norm1", .groups = 3},
            {.type = "relu", .name = "stem"},
            {.type = "conv2d", .name = "conv2", .units = 10, .kernel = 3, .droppable = true, .bias = false},
            {.type = "groupnorm", .name = "norm2", .groups = 2},
            {.type = "silu"},
            {.type = "conv2d", .name = "conv3", .units = 6, .kernel = 1, .droppable = true},
            {.type = "add", .inputs = {3, 7}},
            {.type = "avgpool"},
            {.type = "dense", .name = "dense1", .units = 5}}},
          {"small-transformer",
           {1, 9, 1},
           {{.type = "embedding", .name = "embedding", .units = 7, .symbols = 5},
            {.type = "layernorm", .name = "norm1"},
            {.type = "attention",
             .name = "attention",
             .units = 6,
             .droppable = true,
             .head_units = 2,
             .causal = true},
            {.type = "dense", .name = "dense1", .units = 7},
            {.type = "add", .name = "middle", .inputs = {1, 4}},
            {.type = "dense", .name = "dense2", .units = 10, .droppable = true},
            {.type = "gelu"},
            {.type = "dense", .name = "dense3", .units = 5}}}};
}

struct ModelAndTrainer {
  ModelSpec model;
  std::string trainer;
};

// All of these models with each trainer that trains them.
inline std::vector<ModelAndTrainer> small_droppable_models_by_trainer() {
  std::vector<ModelAndTrainer> all;
  for (const std::string& name : trainer_names()) {
    for (const ModelSpec& model : small_droppable_models()) all.push_back({model, name});
    if (name.starts_with("cuda")) continue;
    for (const ModelSpec& model : small_droppable_graphs()) all.push_back({model, name});
  }
  return all;
}

// Examples in memory: client k has the k-th set, or the last one.
struct ReadyExamples final : ExampleSource {
  std::vector<Examples> clients;
  Examples test;

  void read_train(uint32_t client, Examples& into) const override {
    into = clients[std::min<size_t>(client, clients.size() - 1)];
  }
  const Examples& test_set() const override { return test; }
};

// The outcome of training a cohort: the results, and the sum of the updates.
struct Trained {
  std::vector<JobResult> results;
  PartialSum sum{0};
};

// A state with these weights.
inline std::unique_ptr<ServerState> state_of(Trainer& trainer, const ModelSpec& model,
                                             std::span<const float> weights) {
  auto state = trainer.make_state(model, {.optimizer = "fedavg"});
  state->set_weights(weights);
  return state;
}

inline PartialSum sum_of(ServerState& state) {
  PartialSum copy(0);
  state.with_sum([&](PartialSum& sum) { copy = sum; });
  return copy;
}

// Trains one cohort from these weights, with a state made here.
inline Trained train_cohort(Trainer& trainer, Cohort cohort, std::span<const float> weights) {
  const auto state = state_of(trainer, *cohort.model, weights);
  cohort.state = state.get();
  Trained trained{.results = trainer.train({&cohort, 1}).front()};
  trained.sum = sum_of(*state);
  return trained;
}

inline Evaluation evaluate(Trainer& trainer, const ModelSpec& model, std::span<const float> weights,
                           size_t examples) {
  const auto state = state_of(trainer, model, weights);
  Evaluation total;
  for (const Evaluation& chunk : trainer.evaluate(*state, 0, chunk_count(examples))) total += chunk;
  return total;
}

inline Wire exact_wire() { return {.down = &find_codec("f32"), .up = &find_codec("f32")}; }

// The jobs of one round, whose weights travel unchanged.
inline Cohort cohort_of(const ModelSpec& model, std::span<const Job> jobs, const LocalTraining& how) {
  return {.model = &model,
          .code = {},
          .seed = 3,
          .draw = 1,
          .rows = static_cast<uint32_t>(jobs.size()),
          .jobs = jobs,
          .how = how,
          .wire = exact_wire()};
}

// A round of clients with different sub-models, some of different sizes, and different numbers of examples:
// one has none, some are not a multiple of the batch.
struct SmallRound {
  ModelSpec model;  // with droppable layers of 6 and 10 units
  std::vector<float> weights = random_weights(model);
  ReadyExamples examples;
  std::deque<SubModel> submodels;
  std::vector<Job> jobs;

  explicit SmallRound(ModelSpec of = small_cnn(), bool rescale = false) : model(std::move(of)) {
    constexpr std::array<size_t, 5> kCounts{25, 10, 7, 0, 13};
    const std::vector<std::vector<std::vector<uint32_t>>> kept{{{0, 2, 4}, {0, 1, 2, 3, 4}},
                                                               {{1, 2, 5}, {1, 3, 5, 7, 9}},
                                                               {{3, 4, 5}, {5, 6, 7, 8, 9}},
                                                               {{0, 1, 2, 3, 4, 5}, {2, 4, 9}},
                                                               {{0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}};
    for (uint32_t client = 0; client < kept.size(); ++client) {
      submodels.emplace_back(model, kept[client], rescale);
      jobs.push_back({.client = client, .row = client, .submodel = &submodels.back()});
      examples.clients.push_back(random_examples(model, kCounts[client], client));
    }
    examples.test = random_examples(model, 350, 20);
  }

  Cohort cohort(const LocalTraining& how) const { return cohort_of(model, jobs, how); }

  Trained train(Trainer& trainer, const LocalTraining& how) const {
    return train_cohort(trainer, cohort(how), weights);
  }
};

}  // namespace subfleet
