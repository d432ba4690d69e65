#pragma once

#include <cstdint>
#include <vector>

#include "arrays.h"
#include "subfleet/random.h"
#include "subfleet/round.h"

namespace subfleet::python {

// The orders in which a client sees its examples, one per epoch, as every trainer has them. `key` is of the
// job's Purpose::kBatchOrder.
std::vector<Out<uint32_t>> orders_of(const RandomKey& key, const LocalTraining& how, uint32_t examples);

}  // namespace subfleet::python
