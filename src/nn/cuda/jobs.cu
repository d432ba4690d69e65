#include "nn/cuda/jobs.h"

namespace subfleet::cuda {
namespace {

constexpr int kBlock = 256;

// How a client's examples are cut into steps: every epoch has full batches and then the rest.
struct BatchPlace {
  uint32_t first, count;  // in DeviceJob::order
};
__device__ BatchPlace place_of(const DeviceJob& job, int batch, uint32_t step) {
  const uint32_t per_epoch = (job.examples + batch - 1) / batch;
  const uint32_t epoch = step / per_epoch, first = step % per_epoch * batch;
  return {epoch * job.examples + first, min(static_cast<uint32_t>(batch), job.examples - first)};
}

// Grid: rows of a batch, jobs.
__global__ void fill_kernel(const DeviceJob* jobs, int batch, uint32_t step, int features, float* x) {
  const DeviceJob job = jobs[blockIdx.y];
  const BatchPlace place = place_of(job, batch, step);
  const uint32_t row = blockIdx.x;
  float* to = x + (static_cast<size_t>(blockIdx.y) * batch + row) * features;
  const bool there = row < place.count;
  const float* from = job.inputs + (there ? static_cast<size_t>(job.order[place.first + row]) * features : 0);
  for (int i = threadIdx.x; i < features; i += blockDim.x) to[i] = there ? from[i] : 0.0f;
}

struct RowScore {
  double loss;
  bool correct;
};

// A warp scores a row. As on the host: logits of any size are fine, NaN is never right, of equal ones the
// first counts. Writes the gradient of the batch's mean, unless it is null.
__device__ RowScore score_row(const float* row, int classes, int label, float* gradient, double batch) {
  const int lane = threadIdx.x & 31;
  float largest = -INFINITY;
  for (int i = lane; i < classes; i += 32) largest = fmaxf(largest, row[i]);
  for (int distance = 16; distance > 0; distance /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
  double sum = 0;
  bool right = true;
  const float mine = row[label];
  for (int i = lane; i < classes; i += 32) {
    sum += exp(static_cast<double>(row[i]) - static_cast<double>(largest));
    right = right && (i < label ? mine > row[i] : mine >= row[i]);
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  right = __all_sync(0xffffffffu, right);
  if (gradient != nullptr) {
    for (int i = lane; i < classes; i += 32) {
      const double probability = exp(static_cast<double>(row[i]) - static_cast<double>(largest)) / sum;
      gradient[i] = static_cast<float>((probability - (i == label ? 1.0 : 0.0)) / batch);
    }
  }
  return {log(sum) + static_cast<double>(largest) - static_cast<double>(mine), right};
}

// Grid: jobs * rows in warps.
__global__ void score_kernel(const DeviceJob* jobs, int count, int batch, uint32_t step, const float* logits,
                             int classes, float* gradient) {
  const size_t index = static_cast<size_t>(blockIdx.x) * (kBlock / 32) + (threadIdx.x >> 5);
  if (index >= static_cast<size_t>(count) * batch) return;
  const DeviceJob& job = jobs[index / batch];
  const auto row = static_cast<uint32_t>(index % batch);
  const BatchPlace place = place_of(job, batch, step);
  const int lane = threadIdx.x & 31;
  if (row >= place.count) {
    for (int i = lane; i < classes; i += 32) gradient[index * classes + i] = 0.0f;
    return;
  }
  const RowScore score =
      score_row(logits + index * classes, classes, job.labels[job.order[place.first + row]],
                gradient + index * classes, place.count);
  if (lane != 0) return;
  job.losses[place.first + row] = score.loss;
  job.correct[place.first + row] = score.correct ? 1 : 0;
}

__global__ void sum_kernel(const DeviceJob* jobs, int count, double* losses, uint32_t* correct) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const DeviceJob& job = jobs[index];
  double loss = 0;
  uint32_t right = 0;
  for (uint32_t i = 0; i < job.examples * job.epochs; ++i) {
    loss += job.losses[i];
    right += job.correct[i];
  }
  losses[job.slot] = loss;
  correct[job.slot] = right;
}

// A warp per chunk.
__global__ void chunk_kernel(const float* logits, const int32_t* labels, int examples, int chunk, int classes,
                             double* losses, uint32_t* correct) {
  const int first = static_cast<int>(blockIdx.x) * chunk;
  double loss = 0;
  uint32_t right = 0;
  for (int i = first; i < min(first + chunk, examples); ++i) {
    const RowScore score =
        score_row(logits + static_cast<size_t>(i) * classes, classes, labels[i], nullptr, 1);
    loss += score.loss;
    right += score.correct ? 1 : 0;
  }
  if (threadIdx.x != 0) return;
  losses[blockIdx.x] = loss;
  correct[blockIdx.x] = right;
}

}  // namespace

void fill_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, int features, float* x,
                  cudaStream_t stream) {
  const dim3 grid(batch, count);
  fill_kernel<<<grid, 128, 0, stream>>>(jobs, batch, step, features, x);
  check_launch("filling batches");
}

void score_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, const float* logits,
                   int classes, float* gradient, cudaStream_t stream) {
  const int blocks = (count * batch + kBlock / 32 - 1) / (kBlock / 32);
  score_kernel<<<blocks, kBlock, 0, stream>>>(jobs, count, batch, step, logits, classes, gradient);
  check_launch("scoring batches");
}

void sum_scores(const DeviceJob* jobs, int count, double* losses, uint32_t* correct, cudaStream_t stream) {
  sum_kernel<<<(count + 31) / 32, 32, 0, stream>>>(jobs, count, losses, correct);
  check_launch("adding scores");
}

void score_chunks(const float* logits, const int32_t* labels, int examples, int chunk, int classes,
                  double* losses, uint32_t* correct, cudaStream_t stream) {
  const int chunks = (examples + chunk - 1) / chunk;
  chunk_kernel<<<chunks, 32, 0, stream>>>(logits, labels, examples, chunk, classes, losses, correct);
  check_launch("scoring chunks");
}

}  // namespace subfleet::cuda
