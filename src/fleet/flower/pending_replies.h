#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fleet/flower/fleet_api.pb.h"
#include "fleet/flower/fleet_client.h"

namespace subfleet::flower {

// The replies that the server may not have fetched yet. When a node leaves, its SuperLink forgets them.
class PendingReplies {
 public:
  // Adds a reply that was sent. Thread-safe.
  void add(const wire::Metadata& reply);
  // The SuperLink has forgotten the node, and so the replies are lost.
  void clear();
  // Returns when all replies were fetched or have expired, or after a minute. A reply is known to be fetched
  // when the SuperLink has dropped its objects.
  void wait_until_taken(FleetClient& client, uint64_t node_id);

 private:
  struct Sent {
    uint64_t run_id = 0;
    std::string message_id;
    double expires = 0;
  };
  std::mutex mutex_;
  std::vector<Sent> sent_;  // the latest replies, which the server fetches last
};

}  // namespace subfleet::flower
