#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "nn/cuda/product.cuh"
#include "nn/cuda/wire.h"
#include "wire/f16_rule.h"
#include "wire/int8_rule.h"
#include "wire/rotation.h"

// A warp has a block of 1,024 values, 32 per lane, value i in lane i % 32. If the last block of a job has
// fewer, the rest are zeros. A codec is a rule that transforms a block.
namespace subfleet::cuda {
namespace {

constexpr int kBlock = 1024, kLanes = 32, kEach = kBlock / kLanes;
constexpr int kWarps = 8;
static_assert(kRotatedBlock == kBlock && kInt8Block == kBlock);

// Where a warp's values change places; padded, so that rows and columns both meet all banks.
using Scratch = float[kLanes][kLanes + 1];

struct BlockPlace {
  const RandomKey& key;
  uint32_t number;
  int lane, left;  // values from the block's first on
  Scratch& scratch;
};

struct AsItIs {
  __device__ void prepare() const {}
  __device__ void operator()(float (&)[kEach], const BlockPlace&) const {}
};

struct Half {
  __device__ void prepare() const {}
  __device__ void operator()(float (&values)[kEach], const BlockPlace&) const {
#pragma unroll
    for (float& value : values) value = from_half(to_half(value));
  }
};

struct Int8 {
  __device__ void prepare() const {}
  __device__ void operator()(float (&values)[kEach], const BlockPlace&) const {
    uint32_t bits = 0;
#pragma unroll
    for (const float value : values) bits = max(bits, magnitude_bits(value));
    const float largest = __uint_as_float(__reduce_max_sync(~0u, bits));
    const float per_value = int8_per_value(largest), scale = int8_scale(largest);
#pragma unroll
    for (float& value : values) value = from_int8(static_cast<int8_t>(to_int8(value, per_value)), scale);
  }
};

__device__ inline float with_sign(float value, bool minus) {
  return __uint_as_float(__float_as_uint(value) ^ (minus ? 0x80000000u : 0u));
}

// rotation.h has the definition.
struct Rotated {
  Quantiser quantiser;

  static __device__ Quantiser& tree() {
    __shared__ Quantiser shared;
    return shared;
  }
  __device__ void prepare() const {
    for (int i = threadIdx.x; i < 256; i += kWarps * kLanes) tree().nodes[i] = quantiser.nodes[i];
    if (threadIdx.x == 0) tree().levels = quantiser.levels;
    __syncthreads();
  }

  // Value i * 32 + lane becomes value lane * 32 + i, and the other way round.
  static __device__ void turn(float (&values)[kEach], const BlockPlace& at) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kEach; ++i) at.scratch[i][at.lane] = values[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kEach; ++i) values[i] = at.scratch[at.lane][i];
  }

  // Butterflies of values that are `kApart` of the thread's places apart; skipped if the transform is
  // smaller.
  template <int kApart>
  static __device__ void butterflies(float (&values)[kEach], int distance, int size) {
    if (distance >= size) return;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (i & kApart) continue;
      const float a = values[i], b = values[i + kApart];
      values[i] = a + b;
      values[i + kApart] = a - b;
    }
  }
  // From the furthest to the nearest, or the other way; a step of the thread's places is `step` of the
  // block's.
  static __device__ void narrow(float (&values)[kEach], int step, int size) {
    butterflies<16>(values, 16 * step, size);
    butterflies<8>(values, 8 * step, size);
    butterflies<4>(values, 4 * step, size);
    butterflies<2>(values, 2 * step, size);
    butterflies<1>(values, step, size);
  }
  static __device__ void widen(float (&values)[kEach], int step, int size) {
    butterflies<1>(values, step, size);
    butterflies<2>(values, 2 * step, size);
    butterflies<4>(values, 4 * step, size);
    butterflies<8>(values, 8 * step, size);
    butterflies<16>(values, 16 * step, size);
  }

  template <int kHalf>
  static __device__ void add_upper(float (&values)[kEach]) {
#pragma unroll
    for (int i = 0; i < kHalf; ++i) values[i] += values[i + kHalf];
  }
  // The upper half is added to the lower until one is left; all lanes get it.
  static __device__ float tree_sum(float (&values)[kEach]) {
    add_upper<16>(values);
    add_upper<8>(values);
    add_upper<4>(values);
    add_upper<2>(values);
    add_upper<1>(values);
    float sum = values[0];
#pragma unroll
    for (int half = kLanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
    return __shfl_sync(~0u, sum, 0);
  }

  // Bit i is the sign of the lane's value i.
  static __device__ uint32_t signs_of(const BlockPlace& at) {
    const std::array<uint32_t, 4> words = sign_words(at.key, at.number, at.lane / 4);
    // Of values lane * 32 to lane * 32 + 31.
    const uint32_t mine =
        at.lane % 4 < 2 ? (at.lane % 2 == 0 ? words[0] : words[1]) : (at.lane % 2 == 0 ? words[2] : words[3]);
    uint32_t signs = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) signs |= (__shfl_sync(~0u, mine, i) >> at.lane & 1) << i;
    return signs;
  }

  __device__ void operator()(float (&values)[kEach], const BlockPlace& at) const {
    const int size = static_cast<int>(rotated_block_size(at.left));
    const uint32_t signs = signs_of(at);
    float products[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      values[i] = with_sign(values[i], signs >> i & 1);
      products[i] = values[i] * values[i];
    }
    const float sigma = __fsqrt_rn(tree_sum(products));
    narrow(values, kLanes, size);
    turn(values, at);
    narrow(values, 1, size);

    const float per_value = normaliser(sigma);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const float z = values[i] * per_value;
      values[i] = with_sign(tree().nodes[tree().node_of(fabsf(z))], z < 0);
      products[i] = z * values[i];
    }
    turn(products, at);
    const float scale = block_scale(sigma, tree_sum(products));
    widen(values, 1, size);
    turn(values, at);
    widen(values, kLanes, size);
#pragma unroll
    for (int i = 0; i < kEach; ++i) values[i] = with_sign(values[i] * scale, signs >> i & 1);
  }
};

// Grid: groups of kWarps blocks, jobs.
template <bool kUp, typename Rule>
__global__ void __launch_bounds__(kWarps* kLanes, 2) send_kernel(const WireJob* jobs, const Rule rule) {
  __shared__ Scratch scratch[kWarps];
  rule.prepare();
  const WireJob& job = jobs[blockIdx.y];
  const uint32_t warp = threadIdx.x / kLanes, block = blockIdx.x * kWarps + warp;
  const int lane = threadIdx.x % kLanes;
  const size_t first = static_cast<size_t>(block) * kBlock;
  if (first >= job.count) return;
  const int left = static_cast<int>(min(static_cast<size_t>(kBlock), job.count - first));
  float* values = job.values + first;
  float* given = job.given + first;
  float mine[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int at = i * kLanes + lane;
    mine[i] = at < left ? (kUp ? values[at] - given[at] : values[at]) : 0.0f;
  }
  rule(mine, {job.key, block, lane, left, scratch[warp]});
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int at = i * kLanes + lane;
    if (at >= left) continue;
    values[at] = mine[i];
    if (!kUp) given[at] = mine[i];
  }
}

struct Sending {
  const WireJob* jobs;
  dim3 grid;
  bool up;
  cudaStream_t stream;

  template <typename Rule>
  void operator()(const Rule& rule) const {
    const auto kernel = up ? send_kernel<true, Rule> : send_kernel<false, Rule>;
    kernel<<<grid, kWarps * kLanes, 0, stream>>>(jobs, rule);
    check_launch("sending values");
  }
};

struct Entry {
  std::string_view codec;
  void (*send)(const Sending&);
};

template <int kBits>
void send_rotated(const Sending& send) {
  send(Rotated{lloyd_max(kBits)});
}

constexpr std::array<Entry, 11> kCodecs{{
    {"f32", [](const Sending& send) { send(AsItIs{}); }},
    {"f16", [](const Sending& send) { send(Half{}); }},
    {"int8", [](const Sending& send) { send(Int8{}); }},
    {"rot1", send_rotated<1>},
    {"rot2", send_rotated<2>},
    {"rot3", send_rotated<3>},
    {"rot4", send_rotated<4>},
    {"rot5", send_rotated<5>},
    {"rot6", send_rotated<6>},
    {"rot7", send_rotated<7>},
    {"rot8", send_rotated<8>},
}};

std::vector<float> downloaded(const float* from, size_t count, cudaStream_t stream) {
  std::vector<float> values(count);
  check(cudaMemcpyAsync(values.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost, stream),
        "copying from the GPU");
  check(cudaStreamSynchronize(stream), "waiting for the GPU");
  return values;
}

void upload(const std::vector<float>& values, float* to, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, stream),
        "copying to the GPU");
  check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

void send_by_host(const Codec& codec, const WireJob& job, bool up, cudaStream_t stream) {
  std::vector<float> values = downloaded(job.values, job.count, stream);
  if (up) {
    const std::vector<float> given = downloaded(job.given, job.count, stream);
    for (size_t i = 0; i < values.size(); ++i) values[i] -= given[i];
  }
  codec.transmit(values, job.key);
  upload(values, job.values, stream);
  if (!up) upload(values, job.given, stream);
}

}  // namespace

void WireKernels::send_down(const Codec& codec, std::span<const WireJob> jobs, cudaStream_t stream) {
  send(codec, jobs, false, stream);
}
void WireKernels::send_up(const Codec& codec, std::span<const WireJob> jobs, cudaStream_t stream) {
  send(codec, jobs, true, stream);
}

void WireKernels::send(const Codec& codec, std::span<const WireJob> jobs, bool up, cudaStream_t stream) {
  if (jobs.empty()) return;
  const auto* found = std::ranges::find(kCodecs, codec.name(), &Entry::codec);
  if (found == kCodecs.end()) {
    for (const WireJob& job : jobs) send_by_host(codec, job, up, stream);
    return;
  }
  std::memcpy(staging_.take(jobs.size_bytes()), jobs.data(), jobs.size_bytes());
  table_.grow(staging_.size());
  staging_.upload(table_, jobs.size_bytes(), stream);
  uint32_t most = 0;
  for (const WireJob& job : jobs) most = std::max(most, job.count);
  const dim3 grid(pieces(pieces(static_cast<int>(most), kBlock), kWarps), static_cast<uint32_t>(jobs.size()));
  found->send({reinterpret_cast<const WireJob*>(table_.data()), grid, up, stream});
}

}  // namespace subfleet::cuda
