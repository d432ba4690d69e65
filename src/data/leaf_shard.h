#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "data/client_table.h"

namespace subfleet {

// Called once per user, with its name and examples; there may be no examples.
using LeafUser = std::function<void(const std::string& name, ExampleKind kind, ClientExamples examples)>;

// Reads a JSON file of LEAF (Caldas et al. 2018): {"users": [...], "num_samples": [...], "user_data": {USER:
// {"x": [...], "y": [...]}}}. x are pictures of 784 numbers from 0 to 1 with integer labels y (femnist), or
// texts of 80 characters with the next character as y (shakespeare). Other keys are skipped. Only one user at
// a time is in memory. Throws Error, which names `file`.
void read_leaf_shard(std::istream& in, const std::string& file, const LeafUser& user);

}  // namespace subfleet
