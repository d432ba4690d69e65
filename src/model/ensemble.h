#pragma once

#include <span>
#include <string>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Several trained models as a single one.
struct Ensemble {
  ModelSpec model;
  std::vector<float> weights;
};

// Why no ensemble can be made of such models, naming the layer; empty if one can. Allowed layers are dense,
// conv2d, relu, maxpool, avgpool and flatten; after the last layer with weights, only avgpool and flatten.
std::string ensemble_misfit(const ModelSpec& model);

// A model whose logits are the mean of the members' logits; any trainer runs it as it is. The members' units
// stand side by side, weights between units of different members are 0, and the last layer takes the mean. N
// members make about N^2 times the weights of one. `members`, at least one, are weights of the same model.
// Throws Error if there is a misfit, or if the ensemble would be larger than a model may be.
Ensemble make_ensemble(const ModelSpec& model, std::span<const std::vector<float>> members);

}  // namespace subfleet
