#pragma once

#include <string>

#include "subfleet/model.h"

namespace subfleet::cli {

// The model that a user names: one of the zoo or, where it is none of its names and looks like a file, a
// file.
ModelOptions named_model(const std::string& name);

}  // namespace subfleet::cli
