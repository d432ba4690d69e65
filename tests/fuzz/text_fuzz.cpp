#include "../temporary_folder.h"
#include "files.h"
#include "fuzz.h"

// The input is the text of one of two clients; its first byte says how far apart the windows are.
namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  const std::string line =
      "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer\n";
  return {"\1" + line, "\x0A" + line + line, std::string(1, '\0') + line, "\xFF" + line.substr(0, 80)};
}

void try_input(std::string_view input) {
  if (input.empty()) return;
  static const TemporaryFolder folder;
  write_quickly(folder / "a.txt", input.substr(1));
  write_quickly(folder / "b.txt", std::string(100, 'b'));
  const auto data = open_federation(
      {.source = "text", .path = folder.path(), .window_step = static_cast<uint8_t>(input[0])});
  expect(data->clients() == (input.size() - 1 > 80 ? 2 : 1), "a text with a whole window is a client");
  check_federation(*data);
}

}  // namespace subfleet::fuzz
