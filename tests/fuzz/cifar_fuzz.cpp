#include <array>
#include <memory>
#include <utility>

#include "../temporary_folder.h"
#include "files.h"
#include "fuzz.h"

// The input is the first file of CIFAR-10 and of CIFAR-100; the other files hold one image.
namespace subfleet::fuzz {
namespace {

constexpr size_t kImage = 3072;

struct Format {
  const char* first;
  std::vector<std::string> others;
  size_t label_bytes;
};

std::string image(size_t label_bytes, char label) {
  return std::string(label_bytes, label) + std::string(kImage, '\x7F');
}

const std::vector<std::pair<const Format, std::unique_ptr<TemporaryFolder>>>& folders() {
  static const auto all = [] {
    std::vector<std::pair<const Format, std::unique_ptr<TemporaryFolder>>> made;
    for (const Format& format : {Format{"data_batch_1.bin",
                                        {"data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                                         "data_batch_5.bin", "test_batch.bin"},
                                        1},
                                 Format{"train.bin", {"test.bin"}, 2}}) {
      auto folder = std::make_unique<TemporaryFolder>();
      for (const std::string& name : format.others)
        write_quickly(*folder / name, image(format.label_bytes, 3));
      made.emplace_back(format, std::move(folder));
    }
    return made;
  }();
  return all;
}

}  // namespace

std::vector<std::string> seeds() {
  return {image(1, 9), image(2, 99), image(1, 0) + image(1, 1), image(2, 7) + image(2, 8), image(1, 10)};
}

void try_input(std::string_view input) {
  for (const auto& [format, folder] : folders()) {
    write_quickly(*folder / format.first, input);
    try {
      check_federation(*open_federation({.source = "cifar", .path = folder->path(), .clients = 2}));
    } catch (const Error&) {
      continue;  // the other one
    }
  }
}

}  // namespace subfleet::fuzz
