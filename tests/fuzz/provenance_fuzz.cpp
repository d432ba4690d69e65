#include "fuzz.h"
#include "subfleet/store/provenance.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  const Provenance plain{
      .data = {.source = "glyphs", .clients = 9, .fingerprint = 5}, .initial = {}, .sessions = {}};
  Provenance whole = plain;
  whole.initial = {.file = "a.safetensors", .fingerprint = 7};
  whole.sessions.resize(2, {.from_round = 3, .version = "0.1.0", .device = "cpu", .kernels = "avx2"});
  return {to_json(plain), to_json(whole)};
}

void try_input(std::string_view input) {
  const std::string text = to_json(parse_provenance(input, "f"));
  must_work([&] {
    expect(to_json(parse_provenance(text, "again")) == text, "what is read and written reads back the same");
  });
}

}  // namespace subfleet::fuzz
