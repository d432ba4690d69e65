#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "subfleet/data.h"

namespace subfleet {

using ClientIndices = std::vector<std::vector<uint32_t>>;  // per client, ascending

// Deals examples that belong to nobody to the options' clients. Every example is dealt once. `partition` says
// how:
//   iid        in an order drawn by the seed
//   dirichlet  by deal_by_label(); `auto` is the same
//   shards     sorted by label and cut into equal pieces, which are dealt at random, as many per client as
//              the options say (McMahan et al. 2017)
// Throws Error if that cannot be done.
ClientIndices deal(std::span<const uint8_t> labels, uint32_t classes, const DataOptions& options);

// The same for the first `training` examples. The others, a test set, are dealt evenly and come last.
ClientIndices deal_with_tests(std::span<const uint8_t> labels, size_t training, uint32_t classes,
                              const DataOptions& options);

// How many of a client's examples are not below `first_test`.
uint32_t count_tests(const std::vector<uint32_t>& examples, uint32_t first_test);

// Keeps only clients with at least `min_samples` examples; throws Error if none is left. `who` names them in
// the error: "writers".
void keep_large(ClientIndices& clients, uint32_t min_samples, std::string_view who);

}  // namespace subfleet
