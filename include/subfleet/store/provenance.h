#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The format of run folders and their checkpoints (docs/formats.md). Those that name none are of format 0,
// from before there were numbers, and are read too.
inline constexpr uint32_t kRunFormat = 1;
// Throws Error for a format that only a newer Subfleet reads; `name` is of the file.
void check_run_format(uint64_t format, std::string_view name);

// What a run came from: its data, the weights it began with, and every program and machine that worked on it.
struct Provenance {
  struct Data {
    std::string source;
    uint32_t clients = 0;
    uint64_t fingerprint = 0;
  };
  struct Initial {  // the safetensors file of --init
    std::string file;
    uint64_t fingerprint = 0;
  };
  struct Session {  // from its start to its end, or to a break
    uint32_t from_round = 0;
    std::string version, device, kernels;
    uint32_t threads = 1, ranks = 1;
  };
  Data data;
  std::optional<Initial> initial;
  std::vector<Session> sessions;
};

// As JSON, and back; `name` is for the errors. Throws Error for a text that is something else.
std::string to_json(const Provenance& provenance);
Provenance parse_provenance(std::string_view text, std::string_view name);

// The provenance of a run that goes on: what is saved, and the session that begins. Throws Error if the data
// are not the same.
Provenance go_on(Provenance saved, const Provenance& now, uint32_t from_round, const std::string& folder);

}  // namespace subfleet
