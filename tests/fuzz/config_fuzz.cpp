#include "fuzz.h"
#include "subfleet/config.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  return {
      to_toml(Config{}),
      "[code]\nfamily = \"cwc\"\nkeep = 0.25\ntiers = [1.0, 0.5]\nrescale = true\nlayers.conv2.keep = 0.75\n",
      "[tune]\ntarget = \"20x\" # of chance\n[data]\npath = '''\na'''\n",
      "a.b.c = [[{d = 1979-05-27T07:32:00Z}]]\n"};
}

void try_input(std::string_view input) {
  const Config config = parse_config(input, "f.toml");
  const std::string text = to_toml(config);
  expect(must_work([&] { return to_toml(parse_config(text, "again")); }) == text,
         "what is read and written reads back the same");
}

}  // namespace subfleet::fuzz
