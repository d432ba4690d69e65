#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "subfleet/codec.h"
#include "subfleet/model.h"

namespace subfleet::cli {

// Rounds of clients that all have the same number of generated examples.
struct RoundCase {
  ModelOptions model;
  std::string device = "cpu";
  uint32_t clients = 35, samples = 200, batch = 10;
  double keep = 1;
  WireOptions wire;
  uint32_t candidates = 1;  // runs whose clients train together, as those of a search do
  uint32_t threads = 0;     // 0: one per core
  uint32_t rounds = 1;      // timed together
  uint32_t repeat = 3;      // times; the fastest counts
};

struct RoundSpeed {
  double seconds = 0;       // all rounds of one repetition
  double step_seconds = 0;  // the server's step, once
  double operations = 0;    // floating-point, of the same
  double peak = 0;          // operations per second that the device reaches on registers; 0: unknown
  uint64_t memory = 0;      // the most that was held, in bytes: by the process, or on a GPU
  uint64_t parameters = 0;
  uint32_t threads = 0;
  std::array<char, 64> kernels{};  // what the device computes with
};

// Both run in a process of their own, so that its memory is its own. Throws Error.
RoundSpeed measure_round(const RoundCase& work);

// The most memory that one round of 35 clients holds in a federation of that many generated writers.
uint64_t federation_memory(uint32_t writers);

}  // namespace subfleet::cli
