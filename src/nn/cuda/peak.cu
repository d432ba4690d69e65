#include <algorithm>

#include "nn/cuda/device.h"
#include "nn/cuda/peak.h"

namespace subfleet::cuda {
namespace {

constexpr int kChains = 8, kRounds = 4096, kBlock = 256, kBlocksPerProcessor = 8;

__global__ void multiply_add(float* out, float factor) {
  float value[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) value[i] = static_cast<float>(threadIdx.x + i);
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) value[i] = fmaf(value[i], factor, 1.0f);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) sum += value[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace

double f32_peak() {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "measuring the GPU");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "measuring the GPU");
  const int blocks = processors * kBlocksPerProcessor;
  Buffer<float> out(static_cast<size_t>(blocks) * kBlock);
  const Stream stream;
  cudaEvent_t start = nullptr, end = nullptr;
  check(cudaEventCreate(&start), "measuring the GPU");
  check(cudaEventCreate(&end), "measuring the GPU");
  float best = 1e30f;
  for (int time = 0; time < 5; ++time) {
    check(cudaEventRecord(start, stream), "measuring the GPU");
    multiply_add<<<blocks, kBlock, 0, stream>>>(out.data(), 0.999f);
    check(cudaEventRecord(end, stream), "measuring the GPU");
    stream.wait();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end), "measuring the GPU");
    best = std::min(best, milliseconds);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return 2.0 * kChains * kRounds * blocks * kBlock / (best * 1e-3);
}

}  // namespace subfleet::cuda
