#pragma once

#include <filesystem>

#include "subfleet/run.h"

namespace subfleet {

// Saves a run's whole state between two rounds (round number, weights, optimizer moments) as one safetensors
// file with a hash of its content. The file is replaced atomically, so after a crash the last good one
// remains.
void save_checkpoint(const std::filesystem::path& path, const Run& run);

// Puts a run, made from the same configuration, into the saved state. Throws Error if the file does not fit
// the run, is damaged or has a newer format. Checkpoints of format 0 have no hash and are read without one.
void load_checkpoint(const std::filesystem::path& path, Run& run);

}  // namespace subfleet
