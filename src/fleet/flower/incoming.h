#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fleet/flower/fleet_api.pb.h"
#include "fleet/flower/fleet_client.h"

namespace subfleet::flower {

constexpr int64_t kProtocol = 1;  // what is in Flower's messages (docs/formats.md)

// A message from the server, with what every field says checked as far as that is possible without knowing
// jobs.
struct Incoming {
  wire::Metadata metadata;     // as covered by the message's name, which is in it too
  std::vector<std::byte> job;  // of a train message
  std::string fault;           // why it is no job and no query; to be told to the server
};

// Pulls what a message holds, object by object, and tells the SuperLink that it has arrived. `envelope` is
// what pull-messages gave. Throws Error for a message that cannot be answered: one that is not for this node,
// has expired, or whose objects are not what their names say.
Incoming pull_content(FleetClient& client, uint64_t node_id, const wire::Metadata& envelope,
                      const std::function<bool()>& stop);

}  // namespace subfleet::flower
