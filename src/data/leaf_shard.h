#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "data/client_table.h"

namespace subfleet {

// Called with one user after the other: its name and its examples, which may be none.
using LeafUser = std::function<void(const std::string& name, ExampleKind kind, ClientExamples examples)>;

// Reads a JSON file of LEAF (Caldas et al. 2018): {"users": [...], "num_samples": [...], "user_data": {USER:
// {"x": [...], "y": [...]}}}, where x are pictures of 784 numbers from 0 to 1 with whole labels y (femnist),
// or texts of 80 characters with the next one (shakespeare). Other keys are passed over. One user at a time
// is in memory. Throws Error, which names `file`.
void read_leaf_shard(std::istream& in, const std::string& file, const LeafUser& user);

}  // namespace subfleet
