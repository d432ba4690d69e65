#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "subfleet/codes.h"

// Windows of neighbouring units, which go round the end of the layer.
namespace subfleet {

// Every client gets the units of one window of `weight` units, from `first` on.
CodeBook same_window(const BookRequest& request, size_t first, size_t weight);

// All units from `first` on.
std::vector<uint32_t> window_order(size_t length, size_t first);

}  // namespace subfleet
