#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "subfleet/config.h"
#include "subfleet/fleet.h"
#include "subfleet/store/provenance.h"

// What a process (`subfleet` or Python) checks and writes when it begins or resumes a run in a folder.
namespace subfleet {

// What does the arithmetic of a session.
struct Workers {
  std::string device = "cpu";               // a trainer's name, or what a program calls its own
  std::optional<std::string> kernels = {};  // of a program's own
  uint32_t threads = 1;
  uint32_t ranks = 1;
};

// The provenance of this process: whose data it has, and on which device and how it computes.
Provenance provenance_now(const Config& config, const Fleet& fleet, const Workers& workers);

// Weights that a run begins with, by the file's name and content.
Provenance::Initial initial_weights_file(const std::filesystem::path& file);
Provenance::Initial initial_weights_array(std::span<const float> weights);

// "subfleet 0.1.0 on cpu avx512".
std::string trainer_text(const Provenance::Session& session);

// A line for people if the last session had another version, device or vector unit than this one.
std::optional<std::string> other_workers(const Provenance& before, const Provenance& now);

// These settings for going on with a run that began with `saved`: a horizon that they leave open is the
// run's.
Config going_on(Config config, const Config& saved);

// The device of the last session; "cpu" if there was none.
std::string last_device(const std::optional<Provenance>& before);

// The configuration of a run that goes on: the saved one after `change`. Throws Error, naming the first
// setting, if it changes what a run cannot change.
Config resumed_config(const Config& saved, const std::function<void(Config&)>& change);

}  // namespace subfleet
