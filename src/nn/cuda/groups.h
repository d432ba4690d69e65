#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/client_rule.h"
#include "nn/cuda/client_steps.h"
#include "nn/cuda/example_store.h"
#include "nn/cuda/network.h"
#include "nn/cuda/state.h"
#include "subfleet/round.h"

// Which jobs train together.
namespace subfleet::cuda {

// What tells networks apart.
struct NetworkKey {
  ModelSpec model;
  uint32_t rows = 0;
  size_t lane = 0;     // tells apart networks that are otherwise the same
  size_t history = 0;  // see LayerPlan
  bool operator==(const NetworkKey&) const = default;
};

// One job of a wave, and where its data lie.
struct Place {
  size_t cohort = 0, job = 0;
  StoredExamples examples;
  uint32_t steps = 0;
  size_t order = 0;          // where its examples' order begins in the wave's orders
  float* weights = nullptr;  // on the GPU
  float* given = nullptr;    // the weights as they arrived, if a codec is lossy
};

// Jobs that take every step together: they have the same shape of sub-model, batch and rule. The jobs of one
// shape are divided among a few lanes, each with a stream: while some wait for memory, others compute.
struct Group {
  NetworkKey key;
  ClientRule rule;
  std::vector<size_t> places;  // the jobs with the most steps first
  JobNetwork* network = nullptr;
  ClientSteps* steps = nullptr;
  float* weights = nullptr;
  size_t size = 0, stride = 0;   // of one job's, and to the next job's
  const float* whole = nullptr;  // the weights that all its jobs began with, where they are the whole model
  size_t first_job = 0;          // of its jobs in the wave's list on the GPU
};

// The state as this trainer made it; throws Error for another's.
CudaState& state_of(ServerState* state);

// How many of the first of these jobs there is memory for, at least one, and no more than a launch can count.
size_t wave_size(std::span<const Cohort> cohorts, std::span<const Place> places, size_t bytes);

// Their groups, without networks and room for their weights.
std::vector<Group> groups_of(std::span<const Cohort> cohorts, std::span<const Place> places);

}  // namespace subfleet::cuda
