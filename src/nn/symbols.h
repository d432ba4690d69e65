#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "subfleet/error.h"

namespace subfleet {

// The symbol that an embedding's input stands for; throws Error unless it is below `symbols`.
template <typename Float>
size_t symbol_at(Float value, size_t symbols) {
  if (!(value >= 0 && value < static_cast<Float>(symbols))) {
    throw bad_request("embedding", fmt::format("{} is not a symbol; there are {}", value, symbols));
  }
  return static_cast<size_t>(value);
}

}  // namespace subfleet
