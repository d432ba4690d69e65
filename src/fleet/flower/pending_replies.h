#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fleet/flower/fleet_api.pb.h"
#include "fleet/flower/fleet_client.h"

namespace subfleet::flower {

// The replies that the server may not have taken yet. A SuperLink forgets those of a node that has left.
class PendingReplies {
 public:
  // A reply that was sent. From several threads.
  void add(const wire::Metadata& reply);
  // They are lost: the SuperLink has forgotten the node.
  void clear();
  // Returns when all were taken, have expired, or a minute has passed: the SuperLink drops the objects of
  // what was taken.
  void wait_until_taken(FleetClient& client, uint64_t node_id);

 private:
  struct Sent {
    uint64_t run_id = 0;
    std::string message_id;
    double expires = 0;
  };
  std::mutex mutex_;
  std::vector<Sent> sent_;  // the last ones, which are asked for last
};

}  // namespace subfleet::flower
