#pragma once

#include <span>
#include <string>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Several trained models as one.
struct Ensemble {
  ModelSpec model;
  std::vector<float> weights;
};

// Why no ensemble can be made of models like this, naming the layer; empty if it can. It can where every
// layer is dense, conv2d, relu, maxpool, avgpool or flatten, and nothing but avgpool or flatten follows the
// last with weights.
std::string ensemble_misfit(const ModelSpec& model);

// A model whose logits are the mean of the members', for any trainer as it is: the members' units stand side
// by side, weights between those of different members are zero, and the last layer takes the mean. It has
// about as many weights as its members have, times how many they are. `members` are weights of the same
// model, at least one. Throws Error where there is a misfit or the ensemble is larger than a model can be.
Ensemble make_ensemble(const ModelSpec& model, std::span<const std::vector<float>> members);

}  // namespace subfleet
