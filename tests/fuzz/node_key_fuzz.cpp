#include "fleet/flower/key_testing.h"
#include "fleet/flower/node_key.h"
#include "fuzz.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() { return {flower::kOpenSsh}; }

void try_input(std::string_view input) {
  const flower::NodeKey key = flower::NodeKey::parse(std::string(input), "key");
  expect(!key.sign("text").empty(), "what is read can sign");
}

}  // namespace subfleet::fuzz
