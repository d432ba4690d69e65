#pragma once

#include <filesystem>

#include "subfleet/data.h"

namespace subfleet {

// The options that would read what is there, guessed from its names: source, path and, for images without
// owners, how to deal them. Throws Error if no source can read it.
DataOptions recognise(const std::filesystem::path& path);

// How bright the margins of a few pictures are, from 0 to 1: what they are drawn on.
double margin_brightness(const Federation& pictures);

}  // namespace subfleet
