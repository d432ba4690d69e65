#pragma once

#include <string_view>

#include "subfleet/model.h"

namespace subfleet {

// How weights begin, as a model file says it: "glorot", "he".
std::string_view name_of(Initial initial);

// Throws Error about `what`, naming the nearest name.
Initial initial_of(std::string_view what, std::string_view name);

}  // namespace subfleet
