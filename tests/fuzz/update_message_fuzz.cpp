#include <algorithm>

#include "fuzz.h"
#include "subfleet/server/message.h"

namespace subfleet::fuzz {
namespace {

std::string bytes_of(const UpdateMessage& message) {
  const std::vector<std::byte> bytes = encode(message);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::string> seeds() {
  UpdateMessage message{.draw = 3, .row = 2, .examples = 9, .loss = 2.5, .accuracy = 0.5, .update = {}};
  std::vector<std::string> seeds{bytes_of(message)};
  message.update.resize(8, std::byte{3});
  seeds.push_back(bytes_of(message));
  return seeds;
}

void try_input(std::string_view input) {
  const UpdateMessage message = decode_update(std::as_bytes(std::span(input)));
  expect(bytes_of(message) == input, "what is decoded encodes to the same bytes");
  expect(std::ranges::equal(view_update(std::as_bytes(std::span(input))).update, message.update),
         "a view is of the same update");
}

}  // namespace subfleet::fuzz
