#include <type_traits>

#include "nn/cuda/device.h"
#include "nn/cuda/planes.cuh"

namespace subfleet::cuda {
namespace {

constexpr int kHalf = kGroup / 2;  // channels of a group that a block turns at once
constexpr int kBlock = 256;

// A block reads a piece of the weights along memory and writes it along n. Grid: half groups, tiles of n,
// jobs.
template <int kTaps, int kColumns>
__global__ void __launch_bounds__(kBlock) arrange_kernel(ArrangedWeights a) {
  extern __shared__ float piece[];  // forward [n][channel][tap], back [filter][n][tap]
  constexpr int kSize = kHalf * kTaps * kColumns;
  const int first_n = blockIdx.y * kColumns, first = blockIdx.x * kHalf;
  const float* weights = a.weights + blockIdx.z * a.stride;
  constexpr int kLine = kHalf * kTaps + 1;  // odd: a column then lies in different banks
  for (int i = threadIdx.x; i < kSize; i += kBlock) {
    int n, k, tap;
    if (a.back) {
      k = i / (kColumns * kTaps), n = i / kTaps % kColumns, tap = i % kTaps;
    } else {
      n = i / (kHalf * kTaps), k = i / kTaps % kHalf, tap = i % kTaps;
    }
    const int filter = a.back ? first + k : first_n + n, channel = a.back ? first_n + n : first + k;
    const bool there = filter < a.filters && channel < a.channels;
    piece[n * kLine + k * kTaps + tap] =
        there ? weights[(static_cast<size_t>(filter) * a.channels + channel) * kTaps + tap] : 0.0f;
  }
  __syncthreads();
  const int groups = gridDim.x / 2, group = blockIdx.x / 2, in_group = blockIdx.x % 2 * kHalf;
  float* to = a.to + blockIdx.z * a.to_stride +
              (static_cast<size_t>(blockIdx.y) * groups + group) * kTaps * kGroup * kColumns;
  for (int i = threadIdx.x; i < kSize; i += kBlock) {
    const int n = i % kColumns, k = i / kColumns % kHalf, tap = i / kColumns / kHalf;
    const float value = piece[n * kLine + k * kTaps + (a.back ? kTaps - 1 - tap : tap)];
    to[(static_cast<size_t>(tap) * kGroup + in_group + k) * kColumns + n] =
        a.tf32 ? __uint_as_float(rounded(value)) : value;
  }
}

}  // namespace

void arrange_weights(const ArrangedWeights& a, int jobs, cudaStream_t stream) {
  const int n = a.back ? a.channels : a.filters, k = a.back ? a.filters : a.channels;
  const int columns = plane_columns(a.tf32, n);
  const dim3 grid(2 * pieces(k, kGroup), pieces(n, columns), jobs);
  const size_t bytes = static_cast<size_t>(columns) * (kHalf * a.taps + 1) * sizeof(float);
  const auto launch = [&](auto taps) {
    const auto kernel = columns == 32 ? arrange_kernel<taps, 32> : arrange_kernel<taps, 64>;
    kernel<<<grid, kBlock, bytes, stream>>>(a);
  };
  if (a.taps == 1) {
    launch(std::integral_constant<int, 1>{});
  } else if (a.taps == 9) {
    launch(std::integral_constant<int, 9>{});
  } else {
    launch(std::integral_constant<int, 25>{});
  }
  check_launch("arranging weights");
}

}  // namespace subfleet::cuda
