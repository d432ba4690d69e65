#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "nn/softmax_cross_entropy.h"
#include "subfleet/layer_sites.h"
#include "subfleet/model.h"

namespace subfleet {

// Labelled examples, one after the other; labels are below the number of classes.
struct Batch {
  std::span<const float> inputs;
  std::span<const int32_t> labels;
};

// The arithmetic of one model. The caller owns the weights: flat, laid out as model_parameters() says. Keeps
// memory for activations between calls, so use it from one thread at a time.
class Network {
 public:
  virtual ~Network() = default;

  // Which channels each groupnorm layer normalises together, as in SubModel::channel_groups(), until the next
  // call. Empty: equal parts, those of a whole model.
  virtual void set_channel_groups(std::span<const std::vector<uint32_t>> groups) = 0;

  // One step of plain SGD on the mean softmax cross-entropy of the batch, of all steps where the model has
  // logits for each (nn/next_symbol.h). The score is from before the step.
  virtual Score train_step(std::span<float> weights, const Batch& batch, float client_lr) = 0;

  // Writes a row of logits for each example in `inputs`: those of its last step.
  virtual void infer(std::span<const float> weights, std::span<const float> inputs,
                     std::span<float> logits) = 0;
};

using NetworkFactory = std::function<std::unique_ptr<Network>(const ModelSpec&)>;

}  // namespace subfleet
