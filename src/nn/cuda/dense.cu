#include "nn/cuda/matrix_products.cuh"

// With the few rows of a small batch a step costs what it costs to bring the weights through memory, so the
// kernels here read them as few times as can be: once forward, once (and written) backward.
namespace subfleet::cuda {
namespace {

constexpr int kMostThinRows = 16;
constexpr int kWarps = 8;

// y = x W^T + b. Stretches of kSpan inputs of a block's kUnits units stream through shared memory, so that
// many are on their way at any time; a thread has one unit and a slice of every stretch. kVector: rows begin
// at multiples of 16 bytes. Grid: groups of units, jobs.
template <int kRows, int kUnits, bool kVector>
__global__ void __launch_bounds__(kThreads)
    thin_forward(const float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                 float* __restrict__ y, int inputs, int units, int rows, bool relu) {
  constexpr int kSpan = 64, kPitch = kSpan + 4, kSlices = kThreads / kUnits, kSlice = kSpan / kSlices;
  constexpr int kCopy = kVector ? 4 : 1;
  __shared__ __align__(16) float tiles[2][kUnits * kPitch];
  __shared__ __align__(16) float values[2][kRows * kSpan];
  const int job = blockIdx.y, first = blockIdx.x * kUnits;
  const int mine = threadIdx.x % kUnits, slice = threadIdx.x / kUnits;
  const float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;

  const auto copy = [&](float* to, const float* from, bool valid) {
    if constexpr (kVector) {
      copy_async_16(to, from, valid);
    } else {
      copy_async(to, from, valid);
    }
  };
  const auto load = [&](int stage, int k0) {
    if (k0 < inputs) {
#pragma unroll
      for (int i = threadIdx.x; i < kUnits * kSpan / kCopy; i += kThreads) {
        const int unit = i / (kSpan / kCopy), k = i % (kSpan / kCopy) * kCopy;
        const bool valid = first + unit < units && k0 + k < inputs;
        copy(&tiles[stage][unit * kPitch + k],
             valid ? w + static_cast<size_t>(first + unit) * inputs + k0 + k : w, valid);
      }
      for (int i = threadIdx.x; i < kRows * kSpan / kCopy; i += kThreads) {
        const int row = i / (kSpan / kCopy), k = i % (kSpan / kCopy) * kCopy;
        const bool valid = row < rows && k0 + k < inputs;
        copy(&values[stage][row * kSpan + k], valid ? in + static_cast<size_t>(row) * inputs + k0 + k : in,
             valid);
      }
    }
    commit_copies();
  };
  float sum[kRows] = {};
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < inputs; k0 += kSpan, stage ^= 1) {
    load(stage ^ 1, k0 + kSpan);
    await_copies<1>();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSlice; k += 4) {
      const float4 a = *reinterpret_cast<const float4*>(&tiles[stage][mine * kPitch + slice * kSlice + k]);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float4 b = *reinterpret_cast<const float4*>(&values[stage][r * kSpan + slice * kSlice + k]);
        sum[r] = fmaf(a.x, b.x, sum[r]);
        sum[r] = fmaf(a.y, b.y, sum[r]);
        sum[r] = fmaf(a.z, b.z, sum[r]);
        sum[r] = fmaf(a.w, b.w, sum[r]);
      }
    }
    __syncthreads();
  }
  float* others = tiles[0];  // sums of the slices after the first
  static_assert((kSlices - 1) * kRows * kUnits <= 2 * kUnits * kPitch);
  if (slice > 0) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) others[((slice - 1) * kRows + r) * kUnits + mine] = sum[r];
  }
  __syncthreads();
  if (slice > 0 || first + mine >= units) return;
  const float bias = w[static_cast<size_t>(units) * inputs + first + mine];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows) continue;
    float value = sum[r];
#pragma unroll
    for (int i = 0; i < kSlices - 1; ++i) value += others[(i * kRows + r) * kUnits + mine];
    value += bias;
    y[(static_cast<size_t>(job) * rows + r) * units + first + mine] = relu && !(value > 0) ? 0 : value;
  }
}

// dx = dy W and W -= lr dy^T x in one pass over W. A block has a strip of 64 inputs and its warps
// share the units out. Grid: strips, jobs.
template <int kRows, bool kInputGradient, bool kVector>
__global__ void __launch_bounds__(kWarps * 32)
    thin_backward(float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                  const float* __restrict__ dy, float* __restrict__ dx, int inputs, int units, int rows,
                  bool relu_before, float client_lr) {
  constexpr int kColumns = 2, kChunk = 128, kAhead = 4, kPitch = (kRows + 3) / 4 * 4;
  __shared__ __align__(16) float chunks[2][kChunk][kPitch];  // of the gradients
  __shared__ float parts[kWarps][kColumns * 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  // The jobs that went forward last come first: some of their weights are still in the cache.
  const int job = gridDim.y - 1 - blockIdx.y;
  // A thread's columns: two neighbours where they can be read at once.
  const auto column = [&](int c) {
    return static_cast<int>(blockIdx.x) * kColumns * 32 + (kVector ? lane * kColumns + c : lane + c * 32);
  };
  float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;
  const float* out = dy + static_cast<size_t>(job) * rows * units;
  float* bias = w + static_cast<size_t>(units) * inputs;

  float value[kColumns][kRows], sum[kColumns][kRows] = {};
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      value[c][r] = r < rows && column(c) < inputs ? in[static_cast<size_t>(r) * inputs + column(c)] : 0.0f;
    }
  }
  // The weights of the next kAhead units are on their way while these are used.
  float next[kAhead][kColumns];
  const auto ask = [&](int unit) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const float* from = w + static_cast<size_t>(unit + i) * inputs;
      if constexpr (kVector) {
        float2 two = make_float2(0, 0);
        if (unit + i < units && column(0) < inputs) two = *reinterpret_cast<const float2*>(from + column(0));
        next[i][0] = two.x, next[i][1] = two.y;
      } else {
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
          next[i][c] = unit + i < units && column(c) < inputs ? from[column(c)] : 0.0f;
      }
    }
  };
  ask(warp * kAhead);
  const auto load = [&](int begin) {
    for (int i = threadIdx.x; begin < units && i < kChunk * kRows; i += kWarps * 32) {
      const int unit = i % kChunk, r = i / kChunk;
      const bool valid = r < rows && begin + unit < units;
      copy_async(&chunks[begin / kChunk % 2][unit][r],
                 valid ? out + static_cast<size_t>(r) * units + begin + unit : out, valid);
    }
    commit_copies();
  };
  load(0);
  for (int begin = 0; begin < units; begin += kChunk) {
    load(begin + kChunk);
    await_copies<1>();
    __syncthreads();
    const float(&gradients)[kChunk][kPitch] = chunks[begin / kChunk % 2];
    for (int i = threadIdx.x; blockIdx.x == 0 && i < min(kChunk, units - begin); i += kWarps * 32) {
      float total = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) total += gradients[i][r];
      bias[begin + i] = fmaf(-client_lr, total, bias[begin + i]);
    }
    for (int unit = warp * kAhead; unit < kChunk && begin + unit < units; unit += kWarps * kAhead) {
      float now[kAhead][kColumns];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) now[i][c] = next[i][c];
      }
      ask(begin + unit + kWarps * kAhead);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        float step[kColumns] = {};
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const float gradient = gradients[unit + i][r];
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            if (kInputGradient) sum[c][r] = fmaf(gradient, now[i][c], sum[c][r]);
            step[c] = fmaf(gradient, value[c][r], step[c]);
          }
        }
        float* to = w + static_cast<size_t>(begin + unit + i) * inputs;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) step[c] = fmaf(-client_lr, step[c], now[i][c]);
        if constexpr (kVector) {
          if (begin + unit + i < units && column(0) < inputs)
            *reinterpret_cast<float2*>(to + column(0)) = make_float2(step[0], step[1]);
        } else {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            if (begin + unit + i < units && column(c) < inputs) to[column(c)] = step[c];
          }
        }
      }
    }
    __syncthreads();  // before what was read is overwritten
  }
  if constexpr (kInputGradient) {
    // The warps' parts of dx, added in their order.
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      __syncthreads();
#pragma unroll
      for (int c = 0; c < kColumns; ++c) parts[warp][column(c) % (kColumns * 32)] = sum[c][r];
      __syncthreads();
      const int mine = blockIdx.x * kColumns * 32 + threadIdx.x;
      if (threadIdx.x < kColumns * 32 && mine < inputs && r < rows) {
        float total = 0;
#pragma unroll
        for (int i = 0; i < kWarps; ++i) total += parts[i][threadIdx.x];
        const size_t at = static_cast<size_t>(r) * inputs + mine;
        dx[static_cast<size_t>(job) * rows * inputs + at] = relu_before && !(in[at] > 0) ? 0.0f : total;
      }
    }
  }
}

class Dense final : public Layer {
 public:
  explicit Dense(const LayerPlan& plan)
      : plan_(plan),
        inputs_(static_cast<int>(plan.site.input.size())),
        units_(static_cast<int>(plan.site.output.size())) {}

  void forward(const Step& step, const float* x, float* y) override {
    float* weights = weights_of(step);
    if (step.rows > kMostThinRows) {
      const StoreRows out{y,
                          weights + static_cast<size_t>(units_) * inputs_,
                          nullptr,
                          step.stride,
                          units_,
                          step.rows,
                          plan_.relu_after};
      multiply_rows({step, weights, inputs_, units_, step.rows, plan_.tf32}, x, out);
    } else {
      // A few units are too few blocks, unless each has fewer of them.
      const bool wide = units_ >= 256, vector = is_aligned(4);
      const dim3 grid(pieces(units_, wide ? 32 : 16), step.jobs);
      with_rows(step.rows, [&](auto rows) {
        const auto kernel = wide ? (vector ? thin_forward<rows, 32, true> : thin_forward<rows, 32, false>)
                                 : (vector ? thin_forward<rows, 16, true> : thin_forward<rows, 16, false>);
        kernel<<<grid, kThreads, 0, step.stream>>>(weights, step.stride, x, y, inputs_, units_, step.rows,
                                                   plan_.relu_after);
      });
    }
    check_launch("dense forward");
  }

  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    float* weights = weights_of(step);
    if (step.rows > kMostThinRows) {
      const MatrixSite site{step, weights, inputs_, units_, step.rows, plan_.tf32};
      if (dx != nullptr) row_gradient(site, dy, {dx, plan_.relu_before ? x : nullptr, inputs_, step.rows});
      step_matrix(site, x, static_cast<size_t>(step.rows) * inputs_, dy);
      step_biases(step, dy, units_, step.rows, weights + static_cast<size_t>(units_) * inputs_, nullptr);
    } else {
      const bool vector = is_aligned(2);
      const dim3 grid(pieces(inputs_, 64), step.jobs);
      with_rows(step.rows, [&](auto rows) {
        const auto with = vector ? thin_backward<rows, true, true> : thin_backward<rows, true, false>;
        const auto without = vector ? thin_backward<rows, false, true> : thin_backward<rows, false, false>;
        const auto kernel = dx != nullptr ? with : without;
        kernel<<<grid, kWarps * 32, 0, step.stream>>>(weights, step.stride, x, dy, dx, inputs_, units_,
                                                      step.rows, plan_.relu_before, step.client_lr);
      });
    }
    check_launch("dense backward");
  }

 private:
  // Whether every row of weights and of x begins at a multiple of so many values, as a job's first does.
  bool is_aligned(size_t values) const {
    return inputs_ % values == 0 && plan_.site.weights_offset % values == 0;
  }
  float* weights_of(const Step& step) const { return step.weights + plan_.site.weights_offset; }

  LayerPlan plan_;
  int inputs_, units_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerPlan& plan) {
  if (plan.history > 0 && fits_factored_dense(plan.site, plan.rows)) return make_factored_dense(plan);
  return std::make_unique<Dense>(plan);
}

}  // namespace subfleet::cuda
