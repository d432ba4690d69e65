#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "fleet/flower/fleet_client.h"
#include "fleet/flower/node_key.h"
#include "subfleet/fleet/node.h"

namespace subfleet::flower {

// A node's registration at its SuperLink. Several threads may call any method at once, each with its own
// client.
class Membership {
 public:
  // Makes a key, or reads one. The options and the owner must outlive the object.
  Membership(const NodeOptions& options, const NodeOwner& owner);

  const NodeKey& key() const { return key_; }
  uint64_t id() const { return id_; }  // 0: not known yet
  bool left() const { return left_; }

  // Registers the node, unless another thread has already replaced the id `known_as`. Throws Error if the
  // SuperLink refuses.
  void join(FleetClient& client, uint64_t known_as);
  // Sends heartbeats until the node has left.
  void keep_alive(FleetClient& client);
  // Unregisters at the SuperLink, which may have forgotten the node already.
  void leave(FleetClient& client);
  // Ends keep_alive(), whether or not the SuperLink could be reached.
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
