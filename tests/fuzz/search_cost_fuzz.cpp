#include "fuzz.h"
#include "subfleet/store/run_folder.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  return {R"({"parameter":"server.lr","cost":{"bytes":123456,"rounds":12}})", R"({"cost":{"bytes":0}})",
          R"({"cost":[{"bytes":1e3}]})"};
}

void try_input(std::string_view input) {
  const uint64_t bytes = parse_search_bytes(input, "tune.json");
  expect(bytes <= kMostBytes, "the cost can be added to a run's");
  const std::string text = R"({"cost":{"bytes":)" + std::to_string(bytes) + "}}";
  expect(must_work([&] { return parse_search_bytes(text, "again"); }) == bytes,
         "the cost reads back the same");
}

}  // namespace subfleet::fuzz
