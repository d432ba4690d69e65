#pragma once

#include <filesystem>

#include "subfleet/run.h"

namespace subfleet {

// A run's whole state between two rounds (round number, weights, optimizer moments) as one safetensors file,
// replaced atomically: after a crash the file is the last good one. It carries a hash of all that it holds.
void save_checkpoint(const std::filesystem::path& path, const Run& run);

// Puts a run, made from the same configuration, into the saved state. Throws Error if the file does not fit
// it, is damaged or of a newer format. Checkpoints of format 0 have no hash and are read without one.
void load_checkpoint(const std::filesystem::path& path, Run& run);

}  // namespace subfleet
