#pragma once

#include <atomic>
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
  // The network of that model, with these groups of channels (Network::set_channel_groups()). The reference
  // is valid until the next call.
  Network& network(const ModelSpec& model, std::span<const std::vector<uint32_t>> channel_groups);

  // Trains the sub-model's `weights` by E epochs of SGD, as `how` says. `order` names the orders of the
  // client's examples and, with Purpose::kAugment, how they are mirrored and moved. The score is summed over
  // all examples as they were seen, while the weights changed.
  Score train(const SubModel& submodel, std::span<float> weights, const Examples& examples,
              const LocalTraining& how, const RandomKey& order);

  // train() throws Interrupted once the flag is set.
  void stop_on(const std::atomic<bool>& flag) { stop_ = &flag; }

 private:
  // `seen` is how many examples the client has seen before.
  void fill_batch(const Examples& examples, std::span<const uint32_t> chosen, uint32_t seen,
                  const LocalTraining& how, const Shape& shape, RandomKey key);

  NetworkFactory make_network_;
  const std::atomic<bool>* stop_ = nullptr;
  RecentlyUsed<ModelSpec, std::unique_ptr<Network>> networks_;
  std::vector<uint32_t> order_;  // of the examples
  Examples batch_;
  std::vector<float> seen_;  // an example that is mirrored or moved
  ClientSteps steps_;
};

}  // namespace subfleet
