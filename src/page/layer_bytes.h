#pragma once

#include <string>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// Whether the masks of a round can be drawn at once: there are few enough clients.
bool quickly_drawn(const Config& config);

// One layer's share of a round's bytes.
struct LayerBytes {
  std::string layer;
  double down = 0, up = 0;
};

// The bytes of a run's first round, divided among the layers by how many weights of each its clients held.
// Empty if the run has no round. Throws Error if the settings are impossible.
std::vector<LayerBytes> bytes_by_layer(const RunSummary& run, const Config& config);

// The clients of the run's first round, in the order of their rows. If the number of clients is not known,
// any clients.
std::vector<uint32_t> first_clients(const RunSummary& run, const Config& config);

}  // namespace subfleet
