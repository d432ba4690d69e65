#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

// What HeldWeights passes to its kernels. All pointers are to GPU memory.
namespace subfleet::cuda {

// The whole model is cut into tiles, each within one tensor. A block of threads owns a tile and goes through
// the jobs, so that it reads each weight and writes each sum only once, and no other block writes there.
constexpr uint32_t kHeldTileRows = 8;
constexpr uint32_t kHeldTileColumns = 128;

// A tensor of the whole model as rows x columns, each element a single weight. A tensor of one weight per row
// is turned into one row.
struct HeldTensor {
  size_t offset = 0;  // of its first weight in the model
  uint32_t rows = 0, columns = 0;
  uint32_t first_tile = 0, end_tile = 0, tiles_across = 0;
};

constexpr uint32_t kNotHeld = ~0u;

// What one job holds of one tensor.
struct HeldPart {
  float* values = nullptr;            // the job's first value of this tensor
  const uint32_t* rows = nullptr;     // for each row of the whole tensor: its row in the job, or kNotHeld
  const uint32_t* columns = nullptr;  // the same for each column
  uint32_t row_length = 0;            // of the job's rows
};

// A stretch of columns in one job's tensor.
struct HeldRun {
  uint32_t from = 0, held_from = 0, count = 0;
};

// What fills the two maps of a part: map_of_list[list[i]] = i, and map_of_runs[from + k] = held_from + k.
struct HeldIndices {
  uint32_t *map_of_list = nullptr, *map_of_runs = nullptr;
  const uint32_t* list = nullptr;
  const HeldRun* runs = nullptr;
  uint32_t list_count = 0, run_count = 0;
};

struct HeldCohort {
  uint32_t jobs = 0, tensors = 0, tiles = 0;
  const HeldTensor* tensor = nullptr;
  const HeldPart* parts = nullptr;       // all jobs' parts of the first tensor, then of the second, ...
  const HeldIndices* indices = nullptr;  // in the same order
  const uint32_t* examples = nullptr;    // of every job
};

// Before the call, the maps hold kNotHeld.
void launch_fill_maps(const HeldCohort& cohort, cudaStream_t stream);
void launch_gather(const HeldCohort& cohort, const float* whole, cudaStream_t stream);

// `tile_norms` has room for jobs * tiles values; null if no norms are needed.
struct HeldInspection {
  const float* whole = nullptr;
  const double* losses = nullptr;
  uint32_t* refused = nullptr;
  double *tile_norms = nullptr, *squared_norms = nullptr;
};
void launch_inspect(const HeldCohort& cohort, const HeldInspection& inspection, cudaStream_t stream);

struct HeldMerging {
  const float* whole = nullptr;
  const uint32_t* refused = nullptr;
  int64_t* sums = nullptr;
  uint32_t* holders = nullptr;
};
void launch_merge(const HeldCohort& cohort, const HeldMerging& merging, cudaStream_t stream);

}  // namespace subfleet::cuda
