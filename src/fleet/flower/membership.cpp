#include "fleet/flower/membership.h"

#include <fmt/format.h>

#include "fleet/flower/fleet_api.pb.h"

namespace subfleet::flower {
namespace {

constexpr int kKeyAlreadyInUse = 23;  // Flower's code
constexpr long kUnauthorized = 401, kPreconditionFailed = 412;
constexpr double kRetrySeconds = 2;

}  // namespace

Membership::Membership(const NodeOptions& options, const NodeOwner& owner)
    : options_(options),
      owner_(owner),
      key_(options.key.empty() ? NodeKey::generate() : NodeKey::read(options.key)) {}

void Membership::join(FleetClient& client, uint64_t known_as) {
  const std::lock_guard lock(joining_);
  if (id_ != known_as) return;
  if (known_as != 0)
    owner_.say(fmt::format("{} does not know this node any more; joining again", options_.superlink));
  if (options_.key.empty()) register_key(client);
  id_ = activate(client);
  owner_.say(fmt::format("node {} at {}, {}", id_.load(), options_.superlink,
                         options_.ca.empty() ? "without TLS" : "over TLS"));
}

void Membership::register_key(FleetClient& client) const {
  wire::RegisterNodeRequest request;
  request.set_public_key(key_.public_pem());
  try {
    client.call<wire::RegisterNodeResponse>("register-node", request);
  } catch (const Refused& refused) {
    if (refused.code() == kKeyAlreadyInUse) return;  // by this node: an answer was lost
    throw failure("node",
                  fmt::format("a node cannot register itself there; register a key and give it by --key "
                              "(docs/deploy.md): {}",
                              refused.what()));
  }
}

// A SuperLink also refuses a node that it believes to be connected already, until two heartbeats are
// missing.
uint64_t Membership::activate(FleetClient& client) const {
  wire::ActivateNodeRequest request;
  request.set_public_key(key_.public_pem());
  request.set_heartbeat_interval(options_.heartbeat);
  const double until = unix_time() + 2 * options_.heartbeat + 5;
  for (bool first = true;; first = false) {
    try {
      return client.call<wire::ActivateNodeResponse>("activate-node", request).node_id();
    } catch (const Refused& refused) {
      if (refused.status() == kUnauthorized) {
        throw failure("node", fmt::format("its signature is refused; is this machine's clock right? {}",
                                          refused.what()));
      }
      if (refused.status() != kPreconditionFailed || unix_time() > until) {
        throw failure("node",
                      fmt::format("it is not taken; is its key registered there? {}", refused.what()));
      }
      if (first) {
        owner_.say(fmt::format(
            "{}; its key is not registered there, or the node that used it before still counts as "
            "present: trying for {:.0f} s",
            refused.what(), until - unix_time()));
      }
      if (!pause(kRetrySeconds, owner_.stop)) throw Unreachable(Error::Kind::kFailure, refused.what());
    }
  }
}

void Membership::keep_alive(FleetClient& client) {
  wire::HeartbeatRequest request;
  request.set_heartbeat_interval(options_.heartbeat);
  while (pause(0.8 * options_.heartbeat, [this] { return left(); })) {
    request.mutable_node()->set_node_id(id_);
    try {
      client.call<wire::HeartbeatResponse>("send-node-heartbeat", request);
    } catch (const Refused& refused) {
      // The thread that asks for messages is refused too, and joins again.
      if (refused.status() != kUnauthorized) throw;
    }
  }
}

void Membership::leave(FleetClient& client) {
  wire::LeaveRequest request;
  request.set_node_id(id_);
  try {
    client.call<wire::LeaveResponse>("deactivate-node", request);
    if (options_.key.empty()) client.call<wire::LeaveResponse>("unregister-node", request);
  } catch (const Refused&) {  // it is as good as gone
  }
}

}  // namespace subfleet::flower
