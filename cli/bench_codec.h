#pragma once

#include <CLI/CLI.hpp>

namespace subfleet::cli {

// `bench codec`: what the codecs cost and keep.
void add_bench_codec(CLI::App& bench);

}  // namespace subfleet::cli
