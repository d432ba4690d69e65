#pragma once

#include <string>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// Whether a page can draw the masks of a round in a moment: it has few enough clients.
bool quickly_drawn(const Config& config);

// What one layer's part of a round is.
struct LayerBytes {
  std::string layer;
  double down = 0, up = 0;
};

// The bytes of a run's first round, dealt to the layers by how many weights of each its clients held. None
// where the run has no round. Throws Error if the settings cannot be met.
std::vector<LayerBytes> bytes_by_layer(const RunSummary& run, const Config& config);

// The clients of the run's first round, in the order of their rows; any, where it is not known how many there
// are.
std::vector<uint32_t> first_clients(const RunSummary& run, const Config& config);

}  // namespace subfleet
