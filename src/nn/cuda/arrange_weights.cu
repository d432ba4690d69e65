#include "nn/cuda/device.h"
#include "nn/cuda/planes.cuh"

namespace subfleet::cuda {
namespace {

constexpr int kHalf = kGroup / 2;  // channels of a group that a block turns at once
constexpr int kBlock = 256;

// A block reads a piece of the weights along memory and writes it along n. Grid: half groups, tiles of n,
// jobs.
__global__ void __launch_bounds__(kBlock) arrange_kernel(ArrangedWeights a, int columns) {
  extern __shared__ float piece[];  // forward [n][channel][tap], back [filter][n][tap]
  const int taps = a.taps, size = kHalf * taps * columns;
  const int first_n = blockIdx.y * columns, first = blockIdx.x * kHalf;
  const float* weights = a.weights + blockIdx.z * a.stride;
  const int line = kHalf * taps + 1;  // odd, mostly: a column then lies in different banks
  for (int i = threadIdx.x; i < size; i += kBlock) {
    int n, k, tap;
    if (a.back) {
      k = i / (columns * taps), n = i / taps % columns, tap = i % taps;
    } else {
      n = i / (kHalf * taps), k = i / taps % kHalf, tap = i % taps;
    }
    const int filter = a.back ? first + k : first_n + n, channel = a.back ? first_n + n : first + k;
    const bool there = filter < a.filters && channel < a.channels;
    piece[n * line + k * taps + tap] =
        there ? weights[(static_cast<size_t>(filter) * a.channels + channel) * taps + tap] : 0.0f;
  }
  __syncthreads();
  const int groups = gridDim.x / 2, group = blockIdx.x / 2, in_group = blockIdx.x % 2 * kHalf;
  float* to = a.to + blockIdx.z * a.to_stride +
              (static_cast<size_t>(blockIdx.y) * groups + group) * taps * kGroup * columns;
  for (int i = threadIdx.x; i < size; i += kBlock) {
    const int n = i % columns, k = i / columns % kHalf, tap = i / columns / kHalf;
    to[(static_cast<size_t>(tap) * kGroup + in_group + k) * columns + n] =
        piece[n * line + k * taps + (a.back ? taps - 1 - tap : tap)];
  }
}

}  // namespace

void arrange_weights(const ArrangedWeights& a, int jobs, cudaStream_t stream) {
  const int n = a.back ? a.channels : a.filters, k = a.back ? a.filters : a.channels;
  const int columns = plane_columns(a.tf32, n);
  const dim3 grid(2 * pieces(k, kGroup), pieces(n, columns), jobs);
  const size_t bytes = static_cast<size_t>(columns) * (kHalf * a.taps + 1) * sizeof(float);
  arrange_kernel<<<grid, kBlock, bytes, stream>>>(a, columns);
  check_launch("arranging weights");
}

}  // namespace subfleet::cuda
