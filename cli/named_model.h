#pragma once

#include <string>

#include "subfleet/model.h"

namespace subfleet::cli {

// The model that a user names: one of the zoo or, if it is not in the zoo and looks like a file, that file.
ModelOptions named_model(const std::string& name);

}  // namespace subfleet::cli
