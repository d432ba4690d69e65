#include <array>

#include "fleet/flower/objects.h"
#include "fuzz.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  const std::array<std::string, 2> children{std::string(64, 'a'), std::string(64, '0')};
  constexpr std::string_view kBody = "{}";
  return {flower::make_object("Array", {}, {}).bytes(),
          flower::make_object("Array", children, std::as_bytes(std::span(kBody))).bytes()};
}

void try_input(std::string_view input) {
  const flower::ObjectView object = flower::read_object(input, flower::object_id(input, {}), "Array");
  expect(object.body.size() < input.size() &&
             object.body.data() + object.body.size() == input.data() + input.size(),
         "the body is the end of the object");
  for (const std::string& child : object.children) expect(flower::is_object_id(child), "children have names");
}

}  // namespace subfleet::fuzz
