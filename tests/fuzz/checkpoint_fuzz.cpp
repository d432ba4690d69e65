#include <algorithm>
#include <cstring>
#include <memory>

#include "../temporary_folder.h"
#include "../tiny_federation.h"
#include "files.h"
#include "fuzz.h"
#include "model/safetensors_header.h"
#include "store/checkpoint.h"
#include "subfleet/base/file.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/thread_pool.h"

// The input is the beginning of a checkpoint, up to a few of its values. The rest is zeros, so that what is
// changed is mostly the header.
namespace subfleet::fuzz {
namespace {

constexpr size_t kValues = 64;  // bytes

struct Bench {
  TemporaryFolder folder;
  ThreadPool pool{1};
  LocalFleet fleet{SplitFederation(std::make_unique<TinyFederation>(4), 0, 0.1), "reference", pool, 0};
  Config config;
  std::unique_ptr<Run> run;
  std::filesystem::path file = folder / "checkpoint", copy = folder / "copy";

  Bench() {
    config.model.name = "emnist-mlp";
    config.round.clients = 2;
    validate(config);
    run = std::make_unique<Run>(config, fleet);
  }

  std::string saved() const {
    save_checkpoint(copy, *run);
    return read_file(copy);
  }
};

Bench& bench() {
  static Bench only;
  return only;
}

size_t header_bytes(const std::string& checkpoint) {
  uint64_t length = 0;
  std::memcpy(&length, checkpoint.data(), sizeof length);
  return sizeof length + length;
}

}  // namespace

// Two are as from before formats and hashes: any change to the other one ends at its hash.
std::vector<std::string> seeds() {
  const std::string whole = bench().saved();
  std::string old = whole;
  for (const std::string name : {"\"hash\"", "\"format\""}) old.at(old.find(name) + 1) = '_';
  return {old.substr(0, header_bytes(old) + kValues), old.substr(0, header_bytes(old) / 2),
          whole.substr(0, header_bytes(whole) + kValues)};
}

void try_input(std::string_view input) {
  static const std::string whole = bench().saved();
  static const size_t data_bytes = whole.size() - header_bytes(whole);
  uint64_t length = 0;
  if (input.size() < sizeof length) return;
  std::memcpy(&length, input.data(), sizeof length);
  if (length > input.size() - sizeof length) return;
  // safetensors_fuzz is for the headers that are none; here they would take the time of a whole file each.
  parse_safetensors_header(input.substr(sizeof length, length), data_bytes, "f");
  write_quickly(bench().file, input);
  std::filesystem::resize_file(bench().file, sizeof length + length + data_bytes);
  load_checkpoint(bench().file, *bench().run);
  must_work([] {
    const std::string first = bench().saved();
    load_checkpoint(bench().copy, *bench().run);
    expect(bench().saved() == first, "what is loaded and saved loads back the same");
  });
}

}  // namespace subfleet::fuzz
