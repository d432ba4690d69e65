#include "nn/cuda/matrix_products.cuh"

// With the few rows of a small batch a step costs what it costs to bring the weights through memory, so the
// kernels here read them as few times as can be: once forward, once (and written) backward.
namespace subfleet::cuda {
namespace {

constexpr int kMostThinRows = 16;
constexpr int kWarps = 8;
constexpr int kUnits = 4;  // of one warp, forward

// y = x W^T + b. A warp has kUnits units and its lanes share their inputs out. Grid: groups of units, jobs.
template <int kRows>
__global__ void __launch_bounds__(kWarps * 32)
    thin_forward(const float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                 float* __restrict__ y, int inputs, int units, int rows, bool relu) {
  const int lane = threadIdx.x & 31, job = blockIdx.y;
  const int unit = (blockIdx.x * kWarps + (threadIdx.x >> 5)) * kUnits;
  if (unit >= units) return;
  const float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;
  const float* row_of[kUnits];
#pragma unroll
  for (int u = 0; u < kUnits; ++u) row_of[u] = w + static_cast<size_t>(min(unit + u, units - 1)) * inputs;

  float sum[kUnits * kRows] = {};
  const auto add = [&](const float(&values)[kUnits], int k) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float value = __ldg(in + static_cast<size_t>(min(r, rows - 1)) * inputs + k);
#pragma unroll
      for (int u = 0; u < kUnits; ++u) sum[u * kRows + r] = fmaf(values[u], value, sum[u * kRows + r]);
    }
  };
  constexpr int kAhead = 4;  // stretches of 32 inputs whose weights are asked for before the first is used
  int k = lane;
  for (; k + (kAhead - 1) * 32 < inputs; k += kAhead * 32) {
    float ahead[kAhead][kUnits];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) ahead[i][u] = __ldcs(row_of[u] + k + i * 32);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) add(ahead[i], k + i * 32);
  }
  for (; k < inputs; k += 32) {
    float values[kUnits];
#pragma unroll
    for (int u = 0; u < kUnits; ++u) values[u] = __ldcs(row_of[u] + k);
    add(values, k);
  }
  warp_sums(sum);
  const float* bias = w + static_cast<size_t>(units) * inputs;
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (lane != (u * kRows + r) % 32 || unit + u >= units || r >= rows) continue;
      const float value = sum[u * kRows + r] + bias[unit + u];
      y[(static_cast<size_t>(job) * rows + r) * units + unit + u] = relu && !(value > 0) ? 0 : value;
    }
  }
}

// dx = dy W and W -= lr dy^T x in one pass over W. A block has a strip of kColumns * 32 inputs and its warps
// share the units out. Grid: strips, jobs.
template <int kRows, int kColumns, bool kInputGradient>
__global__ void __launch_bounds__(kWarps * 32)
    thin_backward(float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                  const float* __restrict__ dy, float* __restrict__ dx, int inputs, int units, int rows,
                  bool relu_before, float client_lr) {
  constexpr int kChunk = 128, kAhead = 4, kPitch = (kRows + 3) / 4 * 4;
  __shared__ __align__(16) float gradients[kChunk][kPitch];
  __shared__ float parts[kWarps][kColumns * 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, job = blockIdx.y;
  const int first = blockIdx.x * kColumns * 32 + lane;
  float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;
  const float* out = dy + static_cast<size_t>(job) * rows * units;
  float* bias = w + static_cast<size_t>(units) * inputs;

  float value[kColumns][kRows], sum[kColumns][kRows] = {};
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int column = first + c * 32;
      value[c][r] = r < rows && column < inputs ? in[static_cast<size_t>(r) * inputs + column] : 0.0f;
    }
  }
  for (int begin = 0; begin < units; begin += kChunk) {
    __syncthreads();
    for (int i = threadIdx.x; i < kChunk * kRows; i += kWarps * 32) {
      const int unit = i % kChunk, r = i / kChunk;
      gradients[unit][r] =
          r < rows && begin + unit < units ? out[static_cast<size_t>(r) * units + begin + unit] : 0.0f;
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x < kChunk && begin + threadIdx.x < units) {
      float total = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) total += gradients[threadIdx.x][r];
      bias[begin + threadIdx.x] = fmaf(-client_lr, total, bias[begin + threadIdx.x]);
    }
    for (int unit = warp * kAhead; unit < kChunk && begin + unit < units; unit += kWarps * kAhead) {
      float ahead[kAhead][kColumns];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const bool valid = begin + unit + i < units && first + c * 32 < inputs;
          ahead[i][c] =
              valid ? __ldcs(w + static_cast<size_t>(begin + unit + i) * inputs + first + c * 32) : 0.0f;
        }
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        float step[kColumns] = {};
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const float gradient = gradients[unit + i][r];
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            if (kInputGradient) sum[c][r] = fmaf(gradient, ahead[i][c], sum[c][r]);
            step[c] = fmaf(gradient, value[c][r], step[c]);
          }
        }
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          if (begin + unit + i < units && first + c * 32 < inputs) {
            __stcs(w + static_cast<size_t>(begin + unit + i) * inputs + first + c * 32,
                   fmaf(-client_lr, step[c], ahead[i][c]));
          }
        }
      }
    }
  }
  if constexpr (kInputGradient) {
    // The warps' parts of dx, added in their order.
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      __syncthreads();
#pragma unroll
      for (int c = 0; c < kColumns; ++c) parts[warp][c * 32 + lane] = sum[c][r];
      __syncthreads();
      const int column = blockIdx.x * kColumns * 32 + threadIdx.x;
      if (threadIdx.x < kColumns * 32 && column < inputs && r < rows) {
        float total = 0;
#pragma unroll
        for (int i = 0; i < kWarps; ++i) total += parts[i][threadIdx.x];
        const size_t at = static_cast<size_t>(r) * inputs + column;
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
      const dim3 grid(pieces(units_, kWarps * kUnits), step.jobs);
      with_rows(step.rows, [&](auto rows) {
        thin_forward<rows><<<grid, kWarps * 32, 0, step.stream>>>(weights, step.stride, x, y, inputs_, units_,
                                                                  step.rows, plan_.relu_after);
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
      constexpr int kColumns = 2;
      const dim3 grid(pieces(inputs_, kColumns * 32), step.jobs);
      with_rows(step.rows, [&](auto rows) {
        const auto kernel =
            dx != nullptr ? thin_backward<rows, kColumns, true> : thin_backward<rows, kColumns, false>;
        kernel<<<grid, kWarps * 32, 0, step.stream>>>(weights, step.stride, x, dy, dx, inputs_, units_,
                                                      step.rows, plan_.relu_before, step.client_lr);
      });
    }
    check_launch("dense backward");
  }

 private:
  float* weights_of(const Step& step) const { return step.weights + plan_.site.weights_offset; }

  LayerPlan plan_;
  int inputs_, units_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerPlan& plan) { return std::make_unique<Dense>(plan); }

}  // namespace subfleet::cuda
