#pragma once

#include <span>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Several trained models as a single one.
struct Ensemble {
  ModelSpec model;
  std::vector<float> weights;
};

// A model whose logits are the mean of the members' logits; a trainer runs it as it is. Where every layer of
// a chain is dense, conv2d, relu, a pool or flatten, the members' units stand side by side in layers of the
// same types, weights between units of different members are 0, and the last layer takes the mean; N members
// make about N^2 times the weights of one. Otherwise each member is a branch, and what the branches make is
// added. `members`, at least one, are weights of the same model. Throws Error if the ensemble would be larger
// than a model may be.
Ensemble make_ensemble(const ModelSpec& model, std::span<const std::vector<float>> members);

}  // namespace subfleet
