#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/submodel.h"

namespace subfleet {

// What travels to a client: which sub-model it gets, by the few numbers that name it (never as bits), how to
// train it, and its weights.
struct JobMessage {
  std::string model;
  CodeOptions code;
  uint64_t seed = 0;
  uint32_t round = 0;
  uint32_t rows = 0;  // clients of the round
  uint32_t row = 0;   // this one's
  uint32_t client = 0;
  LocalTraining local;
  std::vector<float> weights;
};

// What travels back: the trained minus the given weights, and the client's report.
struct UpdateMessage {
  uint32_t round = 0;
  uint32_t row = 0;
  JobReport report;
  std::vector<float> update;
};

std::vector<std::byte> encode(const JobMessage& message);
std::vector<std::byte> encode(const UpdateMessage& message);
JobMessage decode_job(std::span<const std::byte> bytes);        // throws Error if malformed
UpdateMessage decode_update(std::span<const std::byte> bytes);  // throws Error if malformed

// encode(...).size(), without building the message around `weights` values.
size_t encoded_size(const JobMessage& header, size_t weights);
size_t encoded_size(const UpdateMessage& header, size_t weights);

// The sub-model that a job message names: what a device rebuilds from it.
SubModel named_submodel(const JobMessage& message);

}  // namespace subfleet
