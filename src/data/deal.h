#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "subfleet/data.h"

namespace subfleet {

using ClientIndices = std::vector<std::vector<uint32_t>>;  // of each client, ascending

// Deals examples that belong to nobody to the options' clients, as `partition` says: `iid`, in an order drawn
// by the seed; `dirichlet` (and `auto`), by deal_by_label(); `shards` (McMahan et al. 2017), sorted by label
// and cut into equal pieces, as many per client as the options say, which are dealt at random. Every example
// is dealt once. Throws Error for what cannot be done.
ClientIndices deal(std::span<const uint8_t> labels, uint32_t classes, const DataOptions& options);

// Leaves only clients with so many examples; throws Error where there are none. `who` are they: "writers".
void keep_large(ClientIndices& clients, uint32_t min_samples, std::string_view who);

}  // namespace subfleet
