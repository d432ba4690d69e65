#include "../temporary_folder.h"
#include "files.h"
#include "fuzz.h"

// HDF5 1.10 itself leaks where it gives up on a malformed file.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

// The input is a file of TensorFlow Federated's EMNIST62; well-formed ones are in corpus/hdf5.
namespace subfleet::fuzz {

std::vector<std::string> seeds() { return {"\x89HDF\r\n\x1A\n"}; }

void try_input(std::string_view input) {
  static const TemporaryFolder folder;
  write_quickly(folder / "train.h5", input);
  check_federation(*open_federation({.source = "hdf5", .path = folder / "train.h5"}));
}

}  // namespace subfleet::fuzz
