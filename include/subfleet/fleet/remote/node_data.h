#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "subfleet/data.h"
#include "subfleet/examples.h"

namespace subfleet {

// From the first to the last, both included.
struct ClientRange {
  uint32_t first = 0, last = 0;
};

// The examples of the clients that one node stands for: some clients of a federation whose data it has, or a
// device's own data, which serve whatever number the server gives it.
class NodeData final : public ExampleSource {
 public:
  // Without `clients`, the data must be those of a single client. Throws Error if they are not, or if they
  // lack these clients.
  NodeData(SplitFederation data, std::optional<ClientRange> clients);

  // What it tells the server. No clients: one, and any number will do.
  std::vector<uint32_t> clients() const;
  std::vector<uint32_t> examples() const;  // for training, of each client, or of the one
  uint32_t classes() const { return data_.all().classes(); }
  Shape input() const { return data_.all().input(); }

  // Throws Error for a client that is not this node's.
  void read_train(uint32_t client, Examples& into) const override;
  // None: a node tests nothing.
  const Examples& test_set() const override { return no_examples_; }

 private:
  SplitFederation data_;
  std::optional<ClientRange> clients_;
  Examples no_examples_;
};

}  // namespace subfleet
