#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "subfleet/codes.h"

// Windows of neighbouring units, which continue past the layer's end at its beginning.
namespace subfleet {

// Every client gets the same window: `weight` units, from `first` on.
CodeBook same_window(const BookRequest& request, size_t first, size_t weight);

// All units in order, beginning with `first`.
std::vector<uint32_t> window_order(size_t length, size_t first);

}  // namespace subfleet
