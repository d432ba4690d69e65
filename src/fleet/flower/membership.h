#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "fleet/flower/fleet_client.h"
#include "fleet/flower/node_key.h"
#include "subfleet/fleet/node.h"

namespace subfleet::flower {

// A node's registration at its SuperLink. Every method may be called from several threads at once, each with
// a client of its own.
class Membership {
 public:
  // Makes a key, or reads it. The options and the owner outlive it.
  Membership(const NodeOptions& options, const NodeOwner& owner);

  const NodeKey& key() const { return key_; }
  uint64_t id() const { return id_; }  // 0: not known yet
  bool left() const { return left_; }

  // Makes the node known, unless another thread has done so since it was called `known_as`. Throws Error if
  // the SuperLink refuses it.
  void join(FleetClient& client, uint64_t known_as);
  // Sends signs of life until the node has left.
  void keep_alive(FleetClient& client);
  // Tells the SuperLink, which may have forgotten the node already.
  void leave(FleetClient& client);
  // Ends keep_alive(), whether the SuperLink could be told or not.
  void forget() { left_ = true; }

 private:
  void register_key(FleetClient& client) const;
  uint64_t activate(FleetClient& client) const;

  const NodeOptions& options_;
  const NodeOwner& owner_;
  NodeKey key_;
  std::mutex joining_;
  std::atomic<uint64_t> id_ = 0;
  std::atomic<bool> left_ = false;
};

}  // namespace subfleet::flower
