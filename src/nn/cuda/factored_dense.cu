#include "nn/cuda/matrix_products.cuh"
#include "nn/cuda/shared_product.cuh"

// A dense layer that all jobs hold whole. SGD changes its weights by a sum of products of inputs and
// gradients: W_t = W_0 - lr * sum over s of dy_s^T x_s. So, while a job has made few steps,
//   y = x W_0^T - lr * sum (x . x_s) dy_s + b        dx = dy W_0 - lr * sum (dy . dy_s) x_s
// All jobs of a run share W_0, and one product multiplies it with the rows of all jobs. No job's own weights
// are touched before the end of the round.
namespace subfleet::cuda {
namespace {

constexpr int kWarps = 8;

// gram[job][row][s] = from[job][row] . history[job][s], for s < count. A warp has one s. Grid: s,
// jobs.
template <int kRows>
__global__ void __launch_bounds__(kWarps * 32)
    gram_kernel(const float* __restrict__ from, const float* __restrict__ history, size_t history_stride,
                int count, int width, int rows, float* __restrict__ gram, int gram_stride) {
  const int lane = threadIdx.x & 31, s = blockIdx.x * kWarps + (threadIdx.x >> 5), job = blockIdx.y;
  if (s >= count) return;
  const float4* before =
      reinterpret_cast<const float4*>(history + job * history_stride + static_cast<size_t>(s) * width);
  const float4* now = reinterpret_cast<const float4*>(from + static_cast<size_t>(job) * rows * width);
  float sum[kRows] = {};
  for (int k = lane; k < width / 4; k += 32) {
    const float4 b = __ldg(before + k);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float4 a = __ldg(now + static_cast<size_t>(min(r, rows - 1)) * (width / 4) + k);
      sum[r] = fmaf(a.x, b.x, sum[r]);
      sum[r] = fmaf(a.y, b.y, sum[r]);
      sum[r] = fmaf(a.z, b.z, sum[r]);
      sum[r] = fmaf(a.w, b.w, sum[r]);
    }
  }
  warp_sums(sum);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (lane == r && r < rows) gram[(static_cast<size_t>(job) * rows + r) * gram_stride + s] = sum[r];
  }
}

struct Correction {
  const float* parts;  // [split][job * row][width]
  int splits;
  size_t part_stride;  // from one split to the next
  const float* gram;   // [job][row][s]
  int gram_stride, count;
  const float* history;  // [job][s][width]
  size_t history_stride;
  const float* bias;  // null: no bias
  size_t bias_stride;
  const float* mask;  // null: no mask; the output is 0 where the mask is not above 0
  float* out;         // [job][row][width]
  int width, rows;
  float client_lr;
  bool relu;
};

// out = the splits' sums - lr * gram * history, then bias, mask and ReLU. A thread has one column
// of all rows. Grid: columns, jobs.
template <int kRows>
__global__ void __launch_bounds__(128) correct_kernel(Correction c) {
  constexpr int kChunk = 32;
  __shared__ float gram[kChunk][kRows];
  const int column = blockIdx.x * 128 + threadIdx.x, job = blockIdx.y;
  const bool inside = column < c.width;
  float correction[kRows] = {};
  const float* history = c.history + job * c.history_stride + column;
  for (int first = 0; first < c.count; first += kChunk) {
    __syncthreads();
    for (int i = threadIdx.x; i < kChunk * kRows; i += 128) {
      const int s = i % kChunk, r = i / kChunk;
      gram[s][r] = r < c.rows && first + s < c.count
                       ? c.gram[(static_cast<size_t>(job) * c.rows + r) * c.gram_stride + first + s]
                       : 0.0f;
    }
    __syncthreads();
    if (!inside) continue;
#pragma unroll 8
    for (int s = 0; s < min(kChunk, c.count - first); ++s) {
      const float value = history[static_cast<size_t>(first + s) * c.width];
#pragma unroll
      for (int r = 0; r < kRows; ++r) correction[r] = fmaf(gram[s][r], value, correction[r]);
    }
  }
  if (!inside) return;
  const float bias = c.bias != nullptr ? c.bias[job * c.bias_stride + column] : 0.0f;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= c.rows) continue;
    const size_t at = (static_cast<size_t>(job) * c.rows + r) * c.width + column;
    float value = 0;
    for (int split = 0; split < c.splits; ++split) value += c.parts[split * c.part_stride + at];
    value = fmaf(-c.client_lr, correction[r], value) + bias;
    if ((c.relu && !(value > 0)) || (c.mask != nullptr && !(c.mask[at] > 0))) value = 0;
    c.out[at] = value;
  }
}

class FactoredDense final : public Layer {
 public:
  explicit FactoredDense(const LayerPlan& plan)
      : plan_(plan),
        inputs_(static_cast<int>(plan.site.input.size())),
        units_(static_cast<int>(plan.site.output.size())),
        history_(static_cast<int>(plan.history)) {}

  void reserve(int jobs) override {
    const size_t rows = static_cast<size_t>(jobs) * plan_.rows;
    x_.grow(static_cast<size_t>(jobs) * history_ * inputs_);
    dy_.grow(static_cast<size_t>(jobs) * history_ * units_);
    gram_.grow(rows * history_);
    parts_.grow(rows * std::max(static_cast<size_t>(shared_splits(units_)) * units_,
                                static_cast<size_t>(shared_splits(inputs_)) * inputs_));
  }

  // Steps that a job has not made are 0, so that the sums of all jobs have the same length.
  void begin_round(const Step& step, int steps) override {
    steps_ = steps;
    clear(x_, inputs_, step);
    clear(dy_, units_, step);
  }

  void forward(const Step& step, const float* x, float* y) override {
    append(x_, x, inputs_, step);
    launch_shared_product<false>(
        plan_.tf32,
        {weights(step.whole), x, parts_.data(), units_, step.jobs * step.rows, inputs_, inputs_, 0},
        step.stream);
    Correction c = correction(step, x, x_, inputs_, dy_, units_, y);
    c.bias = bias(step);
    c.bias_stride = step.stride;
    c.relu = plan_.relu_after;
    correct(step, c);
    check_launch("dense forward by factors");
  }

  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    append(dy_, dy, units_, step);
    if (dx != nullptr) {
      launch_shared_product<true>(
          plan_.tf32,
          {weights(step.whole), dy, parts_.data(), inputs_, step.jobs * step.rows, units_, inputs_, 0},
          step.stream);
      Correction c = correction(step, dy, dy_, units_, x_, inputs_, dx);
      c.mask = plan_.relu_before ? x : nullptr;
      correct(step, c);
    }
    step_biases({step, weights(step.weights), inputs_, units_, step.rows, step.client_lr, plan_.tf32}, dy,
                bias(step), nullptr);
    check_launch("dense backward by factors");
  }

  // The jobs' own weights take all steps at once.
  void end_round(const Step& step) override {
    const int rows = steps_ * plan_.rows;
    const ColumnMajor a{x_.data(), static_cast<size_t>(history_) * inputs_, inputs_, inputs_};
    const ColumnMajor b{dy_.data(), static_cast<size_t>(history_) * units_, units_, units_};
    const StepMatrix out{weights(step.weights), step.stride, inputs_, units_, step.client_lr};
    with_tile(plan_.tf32, inputs_, units_, [&](auto tile) {
      launch_product<decltype(tile)>(a, b, out, inputs_, units_, rows, step.jobs, step.stream);
    });
    check_launch("dense weights from factors");
  }

 private:
  template <typename T>
  T* weights(T* model) const {
    return model + plan_.site.weights_offset;
  }
  float* bias(const Step& step) const {
    return weights(step.weights) + static_cast<size_t>(units_) * inputs_;
  }

  void clear(Buffer<float>& history, int width, const Step& step) {
    const size_t pitch = static_cast<size_t>(history_) * width * sizeof(float);
    const size_t used = static_cast<size_t>(steps_) * plan_.rows * width * sizeof(float);
    check(cudaMemset2DAsync(history.data(), pitch, 0, used, step.jobs, step.stream), "clearing memory");
  }
  void append(Buffer<float>& history, const float* values, int width, const Step& step) {
    const size_t one = static_cast<size_t>(step.rows) * width * sizeof(float);
    check(cudaMemcpy2DAsync(history.data() + static_cast<size_t>(step.index) * step.rows * width,
                            static_cast<size_t>(history_) * width * sizeof(float), values, one, one,
                            step.jobs, cudaMemcpyDeviceToDevice, step.stream),
          "copying on the GPU");
  }

  // How `out` is corrected: by the products of `from` with the history of its kind, times what those steps
  // changed.
  Correction correction(const Step& step, const float* from, const Buffer<float>& alike, int alike_width,
                        const Buffer<float>& changes, int width, float* out) {
    const int count = static_cast<int>(step.index) * step.rows;
    if (count > 0) {
      with_rows(step.rows, [&](auto rows) {
        const dim3 grid(pieces(count, kWarps), step.jobs);
        gram_kernel<rows><<<grid, kWarps * 32, 0, step.stream>>>(
            from, alike.data(), static_cast<size_t>(history_) * alike_width, count, alike_width, step.rows,
            gram_.data(), history_);
      });
    }
    return {.parts = parts_.data(),
            .splits = shared_splits(width),
            .part_stride = static_cast<size_t>(step.jobs) * step.rows * width,
            .gram = gram_.data(),
            .gram_stride = history_,
            .count = count,
            .history = changes.data(),
            .history_stride = static_cast<size_t>(history_) * width,
            .bias = nullptr,
            .bias_stride = 0,
            .mask = nullptr,
            .out = out,
            .width = width,
            .rows = step.rows,
            .client_lr = step.client_lr,
            .relu = false};
  }
  void correct(const Step& step, const Correction& c) {
    with_rows(step.rows, [&](auto rows) {
      correct_kernel<rows><<<dim3(pieces(c.width, 128), step.jobs), 128, 0, step.stream>>>(c);
    });
  }

  LayerPlan plan_;
  int inputs_, units_, history_, steps_ = 0;
  Buffer<float> x_, dy_;  // [job][row of all steps][value]
  Buffer<float> gram_, parts_;
};

}  // namespace

bool fits_factored_dense(const LayerSite& site, int rows) {
  constexpr size_t kWorthIt = size_t{1}
                              << 20;  // weights; with fewer, there is more to do beside than is saved
  return site.spec.type == "dense" && site.weights_count >= kWorthIt && site.input.size() % 4 == 0 &&
         site.output.size() % 4 == 0 && site.weights_offset % 4 == 0 && rows <= 16;
}

std::unique_ptr<Layer> make_factored_dense(const LayerPlan& plan) {
  return std::make_unique<FactoredDense>(plan);
}

}  // namespace subfleet::cuda
