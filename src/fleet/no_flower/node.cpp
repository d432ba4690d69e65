#include "subfleet/fleet/node.h"

#include "subfleet/error.h"

namespace subfleet {

NodeSummary run_node(const NodeOptions&, const NodeData&, const NodeOwner&) {
  throw bad_request(
      "node",
      "this build cannot speak to Flower; install libcurl4-openssl-dev, libssl-dev, libprotobuf-dev and "
      "protobuf-compiler, and build again");
}

}  // namespace subfleet
