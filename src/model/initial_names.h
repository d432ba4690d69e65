#pragma once

#include <string_view>

#include "subfleet/model.h"

namespace subfleet {

// "glorot", "he": how weights begin, in a model file.
std::string_view name_of(Initial initial);

// Throws Error, about `what`, naming the nearest.
Initial initial_of(std::string_view what, std::string_view name);

}  // namespace subfleet
