#include "subfleet/work/ensembles.h"

#include <algorithm>
#include <utility>

#include "model/ensemble.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/store/run_writer.h"

namespace subfleet {

Evaluation test_model(Fleet& fleet, const ModelSpec& model, std::span<const float> weights) {
  const auto state = fleet.make_state(model, {.optimizer = "fedavg"});
  state->set_weights(weights);
  const Evaluation score = fleet.evaluate(*state);
  if (score.examples == 0)
    throw bad_request("test", "the data have no test examples; see data.test_fraction");
  return score;
}

Evaluation test_ensemble(Fleet& fleet, const ModelSpec& model, std::span<const std::vector<float>> members) {
  const Ensemble ensemble = make_ensemble(model, members);
  return test_model(fleet, ensemble.model, ensemble.weights);
}

TrainedModel trained_model(const RunSummary& run, const std::function<void(Config&)>& change) {
  Config config = RunWriter::config(run.folder);
  change(config);
  ModelSpec model = resolve_model(config.model);
  std::vector<float> weights = RunWriter::weights(run.folder, model);
  return {.name = run.name,
          .model = std::move(model),
          .weights = std::move(weights),
          .data = config.data,
          .eval_samples = config.run.eval_samples,
          .round = run.rounds.empty() ? 0 : run.rounds.back().round};
}

std::vector<JoinedModels> join_models(std::span<const TrainedModel> models) {
  std::vector<JoinedModels> all;
  for (size_t i = 0; i < models.size(); ++i) {
    const auto found = std::ranges::find_if(all, [&](const JoinedModels& joined) {
      const TrainedModel& first = models[joined.members.front()];
      return first.model == models[i].model && first.has_tests_of(models[i]);
    });
    if (found != all.end()) {
      found->members.push_back(i);
    } else {
      all.push_back({.members = {i}});
    }
  }
  std::erase_if(all, [](const JoinedModels& joined) { return joined.members.size() < 2; });
  return all;
}

void test_all(std::span<TrainedModel> models, std::span<JoinedModels> ensembles, const std::string& device,
              ThreadPool& pool) {
  std::vector<bool> done(models.size());
  for (size_t first = 0; first < models.size(); ++first) {
    if (done[first]) continue;
    LocalFleet fleet(open_split_federation(models[first].data), device, pool, models[first].eval_samples);
    for (size_t i = first; i < models.size(); ++i) {
      if (!models[i].has_tests_of(models[first])) continue;
      models[i].score = test_model(fleet, models[i].model, models[i].weights);
      done[i] = true;
    }
    for (JoinedModels& joined : ensembles) {
      const TrainedModel& member = models[joined.members.front()];
      if (!member.has_tests_of(models[first])) continue;
      std::vector<std::vector<float>> members;
      for (const size_t i : joined.members) members.push_back(models[i].weights);
      joined.score = test_ensemble(fleet, member.model, members);
    }
  }
}

}  // namespace subfleet
