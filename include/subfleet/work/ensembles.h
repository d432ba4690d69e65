#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/data.h"
#include "subfleet/fleet.h"
#include "subfleet/store/run_folder.h"
#include "subfleet/thread_pool.h"

// Testing trained models, alone and together.
namespace subfleet {

// Tests a model on the fleet's test examples. Throws Error if there are none.
Evaluation test_model(Fleet& fleet, const ModelSpec& model, std::span<const float> weights);

// Tests several models of one shape together, as make_ensemble joins them.
Evaluation test_ensemble(Fleet& fleet, const ModelSpec& model, std::span<const std::vector<float>> members);

// A run's trained model, and what to test it with.
struct TrainedModel {
  std::string name;  // of the run
  ModelSpec model;
  std::vector<float> weights;
  DataOptions data;
  uint64_t eval_samples = 0;
  uint32_t round = 0;  // the model's round
  Evaluation score = {};

  bool has_tests_of(const TrainedModel& other) const {
    return data == other.data && eval_samples == other.eval_samples;
  }
};

// The model of a run's folder. `change` may change the settings that it is tested with. Throws Error if the
// run has no model, or has gone on since.
TrainedModel trained_model(const RunSummary& run, const std::function<void(Config&)>& change);

// Several trained models of the same shape and with the same tests, by their numbers.
struct JoinedModels {
  std::vector<size_t> members;
  Evaluation score = {};
};

// All that can be asked to answer together: two or more each.
std::vector<JoinedModels> join_models(std::span<const TrainedModel> models);

// Tests every model and every ensemble of them, and fills in their scores. Data are opened once for all that
// share them. Throws Error if there are no test examples.
void test_all(std::span<TrainedModel> models, std::span<JoinedModels> ensembles, const std::string& device,
              ThreadPool& pool);

}  // namespace subfleet
