#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/flower/fleet_api.pb.h"
#include "fleet/flower/objects.h"

namespace subfleet::flower {

// A reply as it travels: its envelope, and the objects it consists of, children first.
class Reply {
 public:
  // Each answers the message with that metadata, from the node that it was sent to.
  static Reply with_update(const wire::Metadata& to, std::vector<std::byte> update);
  static Reply with_config(const wire::Metadata& to, const wire::ConfigRecord& config);
  static Reply with_error(const wire::Metadata& to, std::string_view reason);

  const wire::Message& envelope() const { return envelope_; }
  const wire::ObjectTree& tree() const { return tree_; }
  const std::vector<Object>& objects() const { return objects_; }

 private:
  // Adds an object above those trees, and keeps its body.
  wire::ObjectTree add(std::string_view kind, std::span<const wire::ObjectTree> children, std::string body);
  wire::ObjectTree add_array(std::vector<std::byte> bytes);
  // Adds the topmost object, above the record named `subfleet` or an error.
  void finish(const wire::Metadata& to, std::span<const wire::ObjectTree> record, const wire::Error* error);

  wire::Message envelope_;
  wire::ObjectTree tree_;
  std::vector<Object> objects_;
  std::deque<std::string> bodies_;  // of the objects; a deque, so that they stay in place
  std::vector<std::byte> array_;
};

}  // namespace subfleet::flower
