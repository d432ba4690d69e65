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

// A round of clients with different sub-models, some of different sizes, and different numbers of examples:
// one of them none, some not a multiple of the batch.
struct SmallRound {
  ModelSpec model = small_cnn();
  std::vector<float> weights = random_weights(model);
  std::deque<SubModel> submodels;
  std::vector<Job> jobs;

  SmallRound() {
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
        weights, jobs, [this](uint32_t client) { return examples_of(client); }, how, sum);
  }
};

}  // namespace subfleet
