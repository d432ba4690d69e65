#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/client_steps.h"
#include "nn/network.h"
#include "nn/recently_used.h"
#include "subfleet/examples.h"
#include "subfleet/random.h"
#include "subfleet/round.h"

namespace subfleet {

// What one thread needs to train clients' sub-models one after the other: the networks of the last few
// shapes, and room for an order and a batch.
class LocalSgd {
 public:
  explicit LocalSgd(NetworkFactory make_network) : make_network_(std::move(make_network)) {}

  // From now on keeps at least `networks` networks.
  void make_room(size_t networks) { networks_.make_room(networks); }
  // The network of that model. The reference is valid until the next call.
  Network& network(const ModelSpec& model);

  // Trains `weights` of `model` by E epochs of SGD, as `how` says. `order` names the orders of the client's
  // examples. The score is summed over all examples as they were seen, while the weights changed.
  Score train(const ModelSpec& model, std::span<float> weights, const Examples& examples,
              const LocalTraining& how, const RandomKey& order);

 private:
  NetworkFactory make_network_;
  RecentlyUsed<ModelSpec, std::unique_ptr<Network>> networks_;
  std::vector<uint32_t> order_;  // of the examples
  Examples batch_;
  ClientSteps steps_;
};

}  // namespace subfleet
