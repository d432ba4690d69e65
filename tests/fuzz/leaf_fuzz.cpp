#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "data/client_table.h"
#include "data/leaf_shard.h"
#include "files.h"
#include "fuzz.h"

// The input is the JSON of one shard.
namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  std::string pixels = "0";
  for (int i = 1; i < 784; ++i) pixels += i % 2 == 0 ? ",0.25" : ",1";
  const std::string text(80, 'a');
  return {
      R"({"users":["a"],"num_samples":[1],"user_data":{"a":{"x":[[)" + pixels + R"(]],"y":[61]}}})",
      R"({"users":["a"],"num_samples":[1],"user_data":{"a":{"x":[")" + text + R"("],"y":["b"]}}})",
      R"({"more":[{"x":null}],"user_data":{"b":{"y":["\u20ac"],"raw":{},"x":[")" + text +
          R"("]}},"num_samples":[1],"users":["b"]})",
      R"({"users":[],"num_samples":[],"user_data":{}})",
  };
}

void try_input(std::string_view input) {
  std::istringstream in{std::string(input)};
  ClientTable table(true);
  read_leaf_shard(
      in, "shard", [&](const std::string& name, ExampleKind kind, const ClientExamples& examples) {
        expect(examples.values.size() == examples.labels.size() * values_of(kind), "every example is whole");
        table.add_train("shard", name, kind, examples);
        table.add_test("shard", name, kind, examples);
      });
  const auto data = std::move(table).federation({.source = "leaf", .path = "shard"});
  for (uint32_t client = 0; client < data->clients(); ++client) {
    expect(2 * *data->own_test_samples(client) == data->samples(client), "the split is the data's own");
  }
  check_federation(*data);
}

}  // namespace subfleet::fuzz
