#include "fleet/flower/pending_replies.h"

#include <algorithm>

#include "fleet/flower/node_key.h"

namespace subfleet::flower {
namespace {

constexpr size_t kMostKept = 64;
constexpr double kMostSeconds = 60;
constexpr double kPause = 0.25;

}  // namespace

void PendingReplies::add(const wire::Metadata& reply) {
  const std::lock_guard lock(mutex_);
  if (sent_.size() == kMostKept) sent_.erase(sent_.begin());
  sent_.push_back({reply.run_id(), reply.message_id(), reply.created_at() + reply.ttl()});
}

void PendingReplies::clear() {
  const std::lock_guard lock(mutex_);
  sent_.clear();
}

void PendingReplies::wait_until_taken(FleetClient& client, uint64_t node_id) {
  const double until = unix_time() + kMostSeconds;
  for (const Sent& sent : sent_) {
    wire::PullObjectRequest request;
    request.mutable_node()->set_node_id(node_id);
    request.set_run_id(sent.run_id);
    request.set_object_id(sent.message_id);
    try {
      while (unix_time() < std::min(until, sent.expires) &&
             client.call<wire::PullObjectResponse>("pull-object", request).object_found())
        pause(kPause, [] { return false; });
    } catch (const Refused&) {  // its run is over, or the node is no longer known
    }
  }
}

}  // namespace subfleet::flower
