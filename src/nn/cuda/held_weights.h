#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "nn/cuda/device.h"
#include "nn/cuda/held_weights_kernels.h"
#include "nn/cuda/staging.h"
#include "subfleet/submodel.h"

namespace subfleet::cuda {

struct HeldJob {
  const SubModel* submodel = nullptr;
  float* values = nullptr;  // submodel->size() values on the GPU
  uint32_t examples = 0;
};

// Which weights of the whole model each job of a cohort holds, and where its values lie. Calls, except for
// the accessors, only queue work; all of them must get the same stream.
class HeldWeights {
 public:
  // The sub-models must be of one model; throws Error otherwise.
  void set(std::span<const HeldJob> jobs, cudaStream_t stream);

  // Fills every job's values with the weights that it holds of the whole model.
  void gather(const float* whole, cudaStream_t stream);

  // Decides which jobs' updates can be summed. The update is values - whole, the f32 difference, or the
  // values themselves if `whole` is null. A job is refused if its loss (one per job, on the GPU) is not
  // finite, or if a value of its update is not finite or not below PartialSum::kLargestUpdate. After set()
  // and before inspect(), no job is refused.
  void inspect(const float* whole, const double* losses, bool squared_norms, cudaStream_t stream);

  // Adds the updates of all jobs that are not refused, times their examples, exactly as PartialSum does.
  void merge(const float* whole, int64_t* sums, uint32_t* holders, cudaStream_t stream);

  // One value per job, on the GPU, after inspect(): refused() has 0 or 1; squared_norms() has |update|^2, if
  // it was asked for. Its order of summation depends on the model alone.
  const uint32_t* refused() const { return refused_.data(); }
  const double* squared_norms() const { return squared_norms_.data(); }

 private:
  Staging staging_;
  Buffer<std::byte> tables_;  // what `cohort_` points to
  Buffer<uint32_t> maps_;     // and what the tables point to
  Buffer<uint32_t> refused_;
  Buffer<double> squared_norms_, tile_norms_;
  HeldCohort cohort_;
};

}  // namespace subfleet::cuda
