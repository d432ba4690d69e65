#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "subfleet/config.h"
#include "subfleet/fleet.h"
#include "subfleet/store/provenance.h"

// What whoever trains into a run folder says and checks when it begins or goes on: a process, `subfleet` or
// Python.
namespace subfleet {

// Who does the arithmetic of a session.
struct Workers {
  std::string device = "cpu";  // a trainer's name
  uint32_t threads = 1;
  uint32_t ranks = 1;
};

// Of this process: with whose data, on which device and how.
Provenance provenance_now(const Config& config, const Fleet& fleet, const Workers& workers);

// Weights that a run begins with, by the file's name and content.
Provenance::Initial initial_weights_file(const std::filesystem::path& file);

// "subfleet 0.1.0 on cpu avx512".
std::string trainer_text(const Provenance::Session& session);

// A line for people if the last session was of another version, device or vector unit than this one.
std::optional<std::string> other_workers(const Provenance& before, const Provenance& now);

// The device of the last session; "cpu" if there was none.
std::string last_device(const std::optional<Provenance>& before);

// The configuration of a run that goes on: the saved one after `change`. Throws Error, naming the first
// setting, if it changes what a run cannot change.
Config resumed_config(const Config& saved, const std::function<void(Config&)>& change);

}  // namespace subfleet
