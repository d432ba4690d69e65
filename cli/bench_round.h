#pragma once

#include <cstdint>
#include <string>

namespace subfleet::cli {

// Rounds of clients that all have the same number of generated examples.
struct RoundCase {
  std::string model = "emnist-cnn";
  uint32_t clients = 35, samples = 200, batch = 10;
  double keep = 1;
  uint32_t threads = 0;  // 0: one per core
  uint32_t rounds = 1;   // timed together
  uint32_t repeat = 3;   // times; the fastest counts
};

struct RoundSpeed {
  double seconds = 0;       // all rounds of one repetition
  double step_seconds = 0;  // the server's step, once
  double operations = 0;    // floating-point, of the same
  double peak = 0;          // operations per second that the threads reach together on registers
  uint64_t memory = 0;      // the most the process held, in bytes
  uint64_t parameters = 0;
  uint32_t threads = 0;
};

// Both run in a process of their own, so that its memory is its own. Throws Error.
RoundSpeed measure_round(const RoundCase& work);

// The most memory that one round of 35 clients holds in a federation of that many generated writers.
uint64_t federation_memory(uint32_t writers);

}  // namespace subfleet::cli
