#include <algorithm>

#include "fuzz.h"
#include "subfleet/server/message.h"

namespace subfleet::fuzz {
namespace {

std::string bytes_of(const JobMessage& message) {
  const std::vector<std::byte> bytes = encode(message);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A book of many rows, or one that is searched for, is bounded too, but takes its time.
bool is_quick(const JobMessage& message) {
  return message.rows <= 16 && message.code.family != "cwc" &&
         std::ranges::none_of(message.code.layers,
                              [](const auto& own) { return own.second.family == "cwc"; });
}

}  // namespace

std::vector<std::string> seeds() {
  JobMessage plain{.model = "emnist-mlp",
                   .code = {},
                   .rows = 3,
                   .row = 2,
                   .local = {},
                   .down = "f32",
                   .up = "f32",
                   .weights = std::vector<std::byte>(8)};
  JobMessage tiers = plain;
  tiers.code = {.family = "random",
                .keep = 0.25,
                .layers = {{"dense1", {"walsh", 0.5}}},
                .tiers = {1.0, 0.5},
                .rescale = true};
  tiers.local = {.momentum = 0.9f, .weight_decay = 1e-4f, .proximal = 0.1f};
  tiers.seed = 7;
  tiers.client = 4;
  JobMessage own = plain;
  own.model = model_toml(find_model("emnist-linear"));
  own.model.replace(own.model.find("emnist-linear"), 13, "mine");
  JobMessage huge = plain;
  huge.rows = 0xFFFFFFFF;
  return {bytes_of(plain), bytes_of(tiers), bytes_of(own), bytes_of(huge)};
}

void try_input(std::string_view input) {
  const JobMessage message = decode_job(std::as_bytes(std::span(input)));
  expect(bytes_of(message) == input, "what is decoded encodes to the same bytes");
  expect(envelope_size(message) + message.weights.size() == input.size(), "the size is counted right");
  if (is_quick(message) || message.rows > 1'000'000'000) {
    const SubModel submodel = named_submodel(message);
    expect(submodel.size() <= parameter_count(named_model(message.model)),
           "a part is not more than the whole");
  }
}

}  // namespace subfleet::fuzz
