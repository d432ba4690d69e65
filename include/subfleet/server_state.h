#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/partial_sum.h"
#include "subfleet/round.h"

namespace subfleet {

// One value per weight that an optimizer keeps between rounds.
struct Moment {
  std::string name;
  std::span<const float> values;
};

// What a server keeps of one run between rounds (weights and the optimizer's moments) and within one (the
// partial sum), where the device that made it does its arithmetic. The host sees the values when it asks.
class ServerState {
 public:
  virtual ~ServerState() = default;
  virtual const ModelSpec& model() const = 0;

  // On the host, until the next call that changes them.
  virtual std::span<const float> weights() = 0;
  virtual std::vector<Moment> moments() = 0;
  // What is tested and saved as the model: the mean of the weights where one is kept, else the weights.
  virtual std::span<const float> tested_weights() = 0;

  // Every size is checked; moments in the order of moments(). set_weights() leaves the moments as they are,
  // but for a mean of the weights, which begins anew with these.
  virtual void set_weights(std::span<const float> weights) = 0;
  virtual void set_moments(std::span<const std::vector<float>> moments) = 0;

  // Forgets the updates of the round before.
  virtual void clear_sum() = 0;
  // Reads or changes the sum of this round's updates as plain arrays on the host. Trainers add to it where it
  // lies; a fleet of many machines puts the sum of all their sums in its place.
  virtual void with_sum(const std::function<void(PartialSum&)>& visit) = 0;

  // Moves the weights by the round's updates. False: the weights are no longer finite.
  [[nodiscard]] virtual bool step(const ServerRound& round) = 0;
};

}  // namespace subfleet
