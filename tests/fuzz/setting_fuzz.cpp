#include "fuzz.h"
#include "subfleet/config.h"

namespace subfleet::fuzz {

// The first byte chooses the setting, the rest is its value.
std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const Setting& setting : settings(Config{})) {
    seeds.push_back(static_cast<char>(seeds.size()) + setting.value);
  }
  return seeds;
}

void try_input(std::string_view input) {
  if (input.empty()) return;
  Config config;
  const std::vector<Setting> all = settings(config);
  set(config, all[static_cast<uint8_t>(input[0]) % all.size()].name, input.substr(1));
  const std::string text = to_toml(config);
  expect(must_work([&] { return to_toml(parse_config(text, "again")); }) == text,
         "what is set and written reads back the same");
}

}  // namespace subfleet::fuzz
