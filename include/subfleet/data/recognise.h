#pragma once

#include <filesystem>

#include "subfleet/data.h"

namespace subfleet {

// The options that would read what is there, as its names tell: source, path and, for images that belong to
// nobody, how to deal them. Throws Error where it is nothing that a source reads.
DataOptions recognise(const std::filesystem::path& path);

// How bright the margins of a few pictures are, from 0 to 1: what they are drawn on.
double margin_brightness(const Federation& pictures);

}  // namespace subfleet
