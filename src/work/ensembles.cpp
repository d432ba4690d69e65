#include "work/ensembles.h"

#include "model/ensemble.h"
#include "subfleet/error.h"

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

}  // namespace subfleet
