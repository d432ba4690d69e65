#pragma once

#include <array>
#include <deque>
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

// A round of clients with different sub-models, some of different sizes, and different numbers of examples:
// one of them none, some not a multiple of the batch.
struct SmallRound {
  ModelSpec model;  // with droppable layers of 6 and 10 units
  std::vector<float> weights = random_weights(model);
  std::deque<SubModel> submodels;
  std::vector<Job> jobs;

  explicit SmallRound(ModelSpec of = small_cnn()) : model(std::move(of)) {
    const std::vector<std::vector<std::vector<uint32_t>>> kept{{{0, 2, 4}, {0, 1, 2, 3, 4}},
                                                               {{1, 2, 5}, {1, 3, 5, 7, 9}},
                                                               {{3, 4, 5}, {5, 6, 7, 8, 9}},
                                                               {{0, 1, 2, 3, 4, 5}, {2, 4}},
                                                               {{0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}};
    for (uint32_t client = 0; client < kept.size(); ++client) {
      submodels.emplace_back(model, kept[client]);
      jobs.push_back(
          {.client = client, .submodel = &submodels.back(), .batch_order = {.seed = 3, .client = client}});
    }
  }

  Examples examples_of(uint32_t client) const {
    constexpr std::array<size_t, 5> kCounts{25, 10, 7, 0, 13};
    return random_examples(model, kCounts[client], client);
  }

  std::vector<JobReport> train(Trainer& trainer, const LocalTraining& how, PartialSum& sum) const {
    return trainer.train(
        weights, jobs, [this](uint32_t client, Examples& into) { into = examples_of(client); }, how, sum);
  }
};

}  // namespace subfleet
