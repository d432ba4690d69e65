#include <cmath>

#include "nn/cuda/device.h"
#include "nn/cuda/held_weights_kernels.h"
#include "subfleet/partial_sum.h"

namespace subfleet::cuda {
namespace {

constexpr uint32_t kJobsAtOnce = 64;  // whose rows a block looks up together
constexpr uint32_t kJobsAhead = 4;    // whose values a thread reads before it looks at the first
constexpr uint32_t kWarp = 32;
constexpr uint32_t kWarps = kHeldTileColumns / kWarp;
static_assert(kJobsAtOnce % kJobsAhead == 0);

// The jobs that a block has in shared memory at once: where the tile's rows lie in their values.
struct BlockJobs {
  float* values[kJobsAtOnce];
  const uint32_t* columns[kJobsAtOnce];
  uint32_t examples[kJobsAtOnce];
  alignas(16) uint32_t rows[kJobsAtOnce][kHeldTileRows];  // where each begins in the values, or kNotHeld
};

// A thread has one column of its block's tile.
struct Tile {
  const HeldPart* parts;  // of its tensor, one per job
  size_t first;           // the thread's weight in the tile's first row
  uint32_t row, column, row_length;
  uint32_t rows;  // in the tile, as far as the tensor reaches
  bool inside;    // whether the column is one of the tensor's

  __device__ explicit Tile(const HeldCohort& cohort) {
    const HeldTensor* tensor = cohort.tensor;
    while (blockIdx.x >= tensor->end_tile) ++tensor;
    const uint32_t tile = blockIdx.x - tensor->first_tile;
    row = tile / tensor->tiles_across * kHeldTileRows;
    column = tile % tensor->tiles_across * kHeldTileColumns + threadIdx.x;
    row_length = tensor->columns;
    rows = min(kHeldTileRows, tensor->rows - row);
    inside = column < tensor->columns;
    first = tensor->offset + size_t{row} * row_length + column;
    parts = cohort.parts + size_t(tensor - cohort.tensor) * cohort.jobs;
  }

  __device__ void load(const float* whole, float (&values)[kHeldTileRows]) const {
#pragma unroll
    for (uint32_t r = 0; r < kHeldTileRows; ++r)
      values[r] = inside && r < rows ? whole[first + size_t{r} * row_length] : 0.0f;
  }
};

// For each of kJobsAhead jobs, the job's own column for the thread's column, or kNotHeld; also kNotHeld for
// jobs beyond the last.
struct Columns {
  uint32_t of[kJobsAhead];

  __device__ Columns(const Tile& tile, const BlockJobs& block, uint32_t slot, uint32_t count) {
#pragma unroll
    for (uint32_t k = 0; k < kJobsAhead; ++k) {
      of[k] = tile.inside && slot + k < count ? __ldg(block.columns[slot + k] + tile.column) : kNotHeld;
    }
  }
};

// Looks up `count` jobs from `first` on. Jobs that are not wanted(job) hold no rows.
template <typename Wanted>
__device__ void look_up(const HeldCohort& cohort, const Tile& tile, uint32_t first, uint32_t count,
                        BlockJobs& block, Wanted wanted) {
  for (uint32_t i = threadIdx.x; i < count * kHeldTileRows; i += kHeldTileColumns) {
    const uint32_t slot = i / kHeldTileRows, r = i % kHeldTileRows, job = first + slot;
    const HeldPart part = tile.parts[job];
    uint32_t row = kNotHeld;
    if (r < tile.rows && wanted(job)) {
      row = part.rows[tile.row + r];
      if (row != kNotHeld) row *= part.row_length;
    }
    block.rows[slot][r] = row;
    if (r == 0) {
      block.values[slot] = part.values;
      block.columns[slot] = part.columns;
      block.examples[slot] = cohort.examples[job];
    }
  }
}

// Calls visit(first, slot, columns) for every kJobsAhead jobs, beginning with job first + slot, and
// finish(first, count) after the `count` jobs that are in the block at once. All threads must take part.
template <typename Wanted, typename Visit, typename Finish>
__device__ void for_all_jobs(const HeldCohort& cohort, const Tile& tile, BlockJobs& block, Wanted wanted,
                             Visit visit, Finish finish) {
  for (uint32_t first = 0; first < cohort.jobs; first += kJobsAtOnce) {
    const uint32_t count = min(kJobsAtOnce, cohort.jobs - first);
    __syncthreads();  // everyone is done with the jobs before
    look_up(cohort, tile, first, count, block, wanted);
    __syncthreads();
    Columns columns(tile, block, 0, count);
    for (uint32_t slot = 0; slot < count; slot += kJobsAhead) {
      const Columns next(tile, block, slot + kJobsAhead, count);  // under way while these are looked at
      visit(first, slot, columns);
      columns = next;
    }
    finish(first, count);
  }
}

// What kJobsAhead jobs hold of the tile's rows at the thread's column. All loads are issued first, so that
// they overlap.
struct HeldValues {
  float of[kJobsAhead][kHeldTileRows];
  uint32_t held[kJobsAhead];  // a bit per row

  __device__ HeldValues(const BlockJobs& block, uint32_t slot, const Columns& columns) {
#pragma unroll
    for (uint32_t k = 0; k < kJobsAhead; ++k) {
      uint32_t rows[kHeldTileRows];
#pragma unroll
      for (uint32_t r = 0; r < kHeldTileRows; ++r) rows[r] = block.rows[slot + k][r];
      const float* values = block.values[slot + k] + columns.of[k];
      held[k] = 0;
#pragma unroll
      for (uint32_t r = 0; r < kHeldTileRows; ++r) {
        const bool mine = columns.of[k] != kNotHeld && rows[r] != kNotHeld;
        of[k][r] = mine ? __ldcs(values + rows[r]) : 0.0f;
        held[k] |= mine ? 1u << r : 0u;
      }
    }
  }
};

// A block fills the two maps of one job and tensor.
__global__ void fill_maps(HeldCohort cohort) {
  const HeldIndices& indices = cohort.indices[blockIdx.x];
  for (uint32_t i = threadIdx.x; i < indices.list_count; i += blockDim.x)
    indices.map_of_list[indices.list[i]] = i;
  for (uint32_t r = threadIdx.x / kWarp; r < indices.run_count; r += blockDim.x / kWarp) {
    const HeldRun run = indices.runs[r];
    for (uint32_t k = threadIdx.x % kWarp; k < run.count; k += kWarp)
      indices.map_of_runs[run.from + k] = run.held_from + k;
  }
}

__global__ void __launch_bounds__(kHeldTileColumns) gather_weights(HeldCohort cohort, const float* whole) {
  __shared__ BlockJobs block;
  const Tile tile(cohort);
  float weights[kHeldTileRows];
  tile.load(whole, weights);
  for_all_jobs(
      cohort, tile, block, [](uint32_t) { return true; },
      [&](uint32_t, uint32_t slot, const Columns& columns) {
#pragma unroll
        for (uint32_t k = 0; k < kJobsAhead; ++k) {
          if (columns.of[k] == kNotHeld) continue;
          float* values = block.values[slot + k] + columns.of[k];
#pragma unroll
          for (uint32_t r = 0; r < kHeldTileRows; ++r) {
            const uint32_t row = block.rows[slot + k][r];
            if (row != kNotHeld) values[row] = weights[r];
          }
        }
      },
      [](uint32_t, uint32_t) {});
}

__global__ void refuse_by_loss(uint32_t jobs, const double* losses, uint32_t* refused) {
  const uint32_t job = blockIdx.x * blockDim.x + threadIdx.x;
  if (job < jobs) refused[job] = isfinite(losses[job]) ? 0 : 1;
}

template <bool kDifference, bool kNorms>
__global__ void __launch_bounds__(kHeldTileColumns)
    inspect_updates(HeldCohort cohort, HeldInspection inspection) {
  __shared__ BlockJobs block;
  __shared__ double norms[kJobsAtOnce][kWarps];
  const Tile tile(cohort);
  float from[kHeldTileRows] = {};
  if constexpr (kDifference) tile.load(inspection.whole, from);
  for_all_jobs(
      cohort, tile, block, [](uint32_t) { return true; },
      [&](uint32_t first, uint32_t slot, const Columns& columns) {
        const HeldValues to(block, slot, columns);
#pragma unroll
        for (uint32_t k = 0; k < kJobsAhead; ++k) {
          bool wild = false;
          double norm = 0;
#pragma unroll
          for (uint32_t r = 0; r < kHeldTileRows; ++r) {
            if ((to.held[k] >> r & 1) == 0) continue;
            const float update = to.of[k][r] - from[r];
            wild |= !(fabsf(update) < PartialSum::kLargestUpdate);  // NaN is not below
            if constexpr (kNorms) norm += static_cast<double>(update) * static_cast<double>(update);
          }
          if (wild) inspection.refused[first + slot + k] = 1;
          if constexpr (kNorms) {
            for (uint32_t half = kWarp / 2; half > 0; half /= 2) norm += __shfl_down_sync(~0u, norm, half);
            if (threadIdx.x % kWarp == 0) norms[slot + k][threadIdx.x / kWarp] = norm;
          }
        }
      },
      [&](uint32_t first, uint32_t count) {
        if constexpr (kNorms) {
          __syncthreads();
          if (threadIdx.x >= count) return;
          double norm = 0;
          for (uint32_t warp = 0; warp < kWarps; ++warp) norm += norms[threadIdx.x][warp];
          inspection.tile_norms[size_t{first + threadIdx.x} * cohort.tiles + blockIdx.x] = norm;
        }
      });
}

// A block adds the tiles of one job.
__global__ void __launch_bounds__(kHeldTileColumns)
    add_tile_norms(uint32_t tiles, const double* tile_norms, double* norms) {
  __shared__ double lanes[kHeldTileColumns];
  double sum = 0;
  for (uint32_t tile = threadIdx.x; tile < tiles; tile += kHeldTileColumns)
    sum += tile_norms[size_t{blockIdx.x} * tiles + tile];
  lanes[threadIdx.x] = sum;
  for (uint32_t half = kHeldTileColumns / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) lanes[threadIdx.x] += lanes[threadIdx.x + half];
  }
  if (threadIdx.x == 0) norms[blockIdx.x] = lanes[0];
}

template <bool kDifference>
__global__ void __launch_bounds__(kHeldTileColumns, 6) merge_updates(HeldCohort cohort, HeldMerging merging) {
  // A float times a power of two is exact, so this rounds once, to even, as the host does in double.
  constexpr float kUnits = 1 / PartialSum::kResolution;
  __shared__ BlockJobs block;
  const Tile tile(cohort);
  float from[kHeldTileRows] = {};
  if constexpr (kDifference) tile.load(merging.whole, from);
  int64_t sums[kHeldTileRows] = {};
  uint32_t holders[kHeldTileRows] = {};
  for_all_jobs(
      cohort, tile, block,
      [&](uint32_t job) { return cohort.examples[job] != 0 && merging.refused[job] == 0; },
      [&](uint32_t, uint32_t slot, const Columns& columns) {
        const HeldValues to(block, slot, columns);
#pragma unroll
        for (uint32_t k = 0; k < kJobsAhead; ++k) {
          const uint32_t examples = block.examples[slot + k];
#pragma unroll
          for (uint32_t r = 0; r < kHeldTileRows; ++r) {
            if ((to.held[k] >> r & 1) == 0) continue;
            sums[r] += __float2ll_rn((to.of[k][r] - from[r]) * kUnits) * static_cast<int64_t>(examples);
            holders[r] += examples;
          }
        }
      },
      [](uint32_t, uint32_t) {});
#pragma unroll
  for (uint32_t r = 0; r < kHeldTileRows; ++r) {
    if (holders[r] == 0) continue;
    const size_t weight = tile.first + size_t{r} * tile.row_length;
    merging.sums[weight] += sums[r];
    merging.holders[weight] += holders[r];
  }
}

}  // namespace

void launch_fill_maps(const HeldCohort& cohort, cudaStream_t stream) {
  fill_maps<<<cohort.jobs * cohort.tensors, kHeldTileColumns, 0, stream>>>(cohort);
  check_launch("filling the maps of held weights");
}

void launch_gather(const HeldCohort& cohort, const float* whole, cudaStream_t stream) {
  if (cohort.jobs == 0) return;
  gather_weights<<<cohort.tiles, kHeldTileColumns, 0, stream>>>(cohort, whole);
  check_launch("gathering the held weights");
}

void launch_inspect(const HeldCohort& cohort, const HeldInspection& inspection, cudaStream_t stream) {
  if (cohort.jobs == 0) return;
  refuse_by_loss<<<(cohort.jobs + kHeldTileColumns - 1) / kHeldTileColumns, kHeldTileColumns, 0, stream>>>(
      cohort.jobs, inspection.losses, inspection.refused);
  check_launch("looking at the losses");
  const bool difference = inspection.whole != nullptr, norms = inspection.tile_norms != nullptr;
  const auto inspect = difference ? (norms ? inspect_updates<true, true> : inspect_updates<true, false>)
                                  : (norms ? inspect_updates<false, true> : inspect_updates<false, false>);
  inspect<<<cohort.tiles, kHeldTileColumns, 0, stream>>>(cohort, inspection);
  check_launch("looking at the updates");
  if (!norms) return;
  add_tile_norms<<<cohort.jobs, kHeldTileColumns, 0, stream>>>(cohort.tiles, inspection.tile_norms,
                                                               inspection.squared_norms);
  check_launch("adding the norms of the updates");
}

void launch_merge(const HeldCohort& cohort, const HeldMerging& merging, cudaStream_t stream) {
  if (cohort.jobs == 0) return;
  const auto merge = merging.whole != nullptr ? merge_updates<true> : merge_updates<false>;
  merge<<<cohort.tiles, kHeldTileColumns, 0, stream>>>(cohort, merging);
  check_launch("adding the updates");
}

}  // namespace subfleet::cuda
