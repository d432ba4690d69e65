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
  float* values = nullptr;  // on the GPU: submodel->size() of them
  uint32_t examples = 0;
};

// Which weights of the whole model each job of a cohort holds, and where its values lie. Every call but the
// accessors only puts work on the stream; all are to be given the same one.
class HeldWeights {
 public:
  // Sub-models of one model; throws Error where they are not.
  void set(std::span<const HeldJob> jobs, cudaStream_t stream);

  // Every job's values become the weights that it holds of the whole model.
  void gather(const float* whole, cudaStream_t stream);

  // Which jobs' updates can be summed. The update is values - whole, the f32 difference, or the values
  // themselves where `whole` is null. A job is refused if its loss (one per job, on the GPU) is not finite,
  // or if a value of the update is not finite or not below PartialSum::kLargestUpdate. Since set(), none is.
  void inspect(const float* whole, const double* losses, bool squared_norms, cudaStream_t stream);

  // Adds the updates of the jobs that are not refused, times their examples, as PartialSum does.
  void merge(const float* whole, int64_t* sums, uint32_t* holders, cudaStream_t stream);

  // One per job, on the GPU, after inspect(): 0 or 1, and |update|^2 where it was asked for, whose order of
  // summation depends on the model alone.
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
