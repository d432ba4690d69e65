#include "nn/cuda/elementwise.cuh"
#include "nn/cuda/matrix_products.cuh"

// Work that does not depend on the step before is one product over all steps; the rest is one launch per
// step. Inside the layer values are stored as [job][step][row][feature].
namespace subfleet::cuda {
namespace {

constexpr int kWarps = 8;

__device__ inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// [job][row][feature][t] to [job][t][row][feature].
struct IntoSteps {
  const float* from;
  float* to;
  int rows, features, steps;
  __device__ void operator()(size_t i) const {
    const int feature = static_cast<int>(i % features);
    const size_t rest = i / features;
    const int row = static_cast<int>(rest % rows);
    const int t = static_cast<int>(rest / rows % steps);
    const size_t job = rest / rows / steps;
    to[i] = from[((job * rows + row) * features + feature) * steps + t];
  }
};

// And back.
struct OutOfSteps {
  const float* from;
  float* to;
  size_t job_stride;
  int skip;  // steps before the first that leaves
  int rows, features, steps_out;
  float scale;
  __device__ void operator()(size_t i) const {
    const int t = static_cast<int>(i % steps_out);
    const size_t rest = i / steps_out;
    const int feature = static_cast<int>(rest % features);
    const int row = static_cast<int>(rest / features % rows);
    const size_t job = rest / features / rows;
    to[i] =
        scale * from[job * job_stride + (static_cast<size_t>(skip + t) * rows + row) * features + feature];
  }
};

struct Cells {
  float* gates;  // [t][row][4 * units]: z when a step begins, the gates' values after it
  float *c, *h;  // [t + 1][row][units]: zeros, then after each step
  float* dz;     // like gates
  float* dc;     // [row][units]
  int rows, units, steps;
  __device__ size_t z(int job, int t, int row) const {
    return ((static_cast<size_t>(job) * steps + t) * rows + row) * 4 * units;
  }
  __device__ size_t cell(int job, int t, int row) const {
    return ((static_cast<size_t>(job) * (steps + 1) + t) * rows + row) * units;
  }
};

// One step: a warp has one unit, with its four gates, of up to kRows rows. Grid: units, jobs, groups of rows.
template <int kRows>
__global__ void __launch_bounds__(kWarps * 32)
    lstm_step(Cells cells, const float* __restrict__ recurrent, size_t stride, int t) {
  const int lane = threadIdx.x & 31, job = blockIdx.y, first_row = blockIdx.z * kRows;
  const int unit = blockIdx.x * kWarps + (threadIdx.x >> 5), units = cells.units;
  if (unit >= units) return;
  const float* w = recurrent + job * stride;
  const float* before = cells.h + cells.cell(job, t, 0);
  float sum[4 * kRows] = {};
  for (int k = lane; k < units; k += 32) {
    float weight[4];
#pragma unroll
    for (int gate = 0; gate < 4; ++gate)
      weight[gate] = __ldg(w + static_cast<size_t>(gate * units + unit) * units + k);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float value = before[static_cast<size_t>(min(first_row + r, cells.rows - 1)) * units + k];
#pragma unroll
      for (int gate = 0; gate < 4; ++gate)
        sum[gate * kRows + r] = fmaf(weight[gate], value, sum[gate * kRows + r]);
    }
  }
  warp_sums(sum);
  float mine[4] = {};  // of the lane's row
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) mine[gate] = lane == r ? sum[gate * kRows + r] : mine[gate];
  }
  const int row = first_row + lane;
  if (lane >= kRows || row >= cells.rows) return;
  float* z = cells.gates + cells.z(job, t, row) + unit;
  const float i = sigmoid(z[0] + mine[0]), f = sigmoid(z[units] + mine[1]);
  const float g = tanhf(z[2 * units] + mine[2]), o = sigmoid(z[3 * units] + mine[3]);
  z[0] = i, z[units] = f, z[2 * units] = g, z[3 * units] = o;
  const float c = fmaf(f, cells.c[cells.cell(job, t, row) + unit], i * g);
  cells.c[cells.cell(job, t + 1, row) + unit] = c;
  cells.h[cells.cell(job, t + 1, row) + unit] = o * tanhf(c);
}

// One step back: a lane has one unit of up to kRows rows, and the warps share out the gates of the step
// after. Grid: units / 32, jobs, groups of rows.
template <int kRows>
__global__ void __launch_bounds__(kWarps * 32)
    lstm_step_back(Cells cells, const float* __restrict__ recurrent, size_t stride,
                   const float* __restrict__ dy, int steps_out, float scale, int t) {
  __shared__ float parts[kWarps][kRows][32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, job = blockIdx.y,
            first_row = blockIdx.z * kRows;
  const int units = cells.units, unit = blockIdx.x * 32 + lane;
  float sum[kRows] = {};
  if (t + 1 < cells.steps) {
    const float* w = recurrent + job * stride + min(unit, units - 1);
    const float* after[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      after[r] = cells.dz + cells.z(job, t + 1, min(first_row + r, cells.rows - 1));
#pragma unroll 4
    for (int gate = warp; gate < 4 * units; gate += kWarps) {
      const float weight = __ldg(w + static_cast<size_t>(gate) * units);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] = fmaf(weight, after[r][gate], sum[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) parts[warp][r][lane] = sum[r];
  __syncthreads();
  for (int r = warp; r < kRows; r += kWarps) {
    const int row = first_row + r;
    if (unit >= units || row >= cells.rows) continue;
    float dh = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) dh += parts[i][r][lane];
    const int out = t - (cells.steps - steps_out);
    if (out >= 0)
      dh += scale * dy[((static_cast<size_t>(job) * cells.rows + row) * units + unit) * steps_out + out];
    const float* gates = cells.gates + cells.z(job, t, row) + unit;
    const float i = gates[0], f = gates[units], g = gates[2 * units], o = gates[3 * units];
    const float tanh_c = tanhf(cells.c[cells.cell(job, t + 1, row) + unit]);
    float* kept = cells.dc + (static_cast<size_t>(job) * cells.rows + row) * units + unit;
    const float dc = fmaf(dh * o, 1 - tanh_c * tanh_c, t + 1 < cells.steps ? *kept : 0.0f);
    float* dz = cells.dz + cells.z(job, t, row) + unit;
    dz[0] = dc * g * i * (1 - i);
    dz[units] = dc * cells.c[cells.cell(job, t, row) + unit] * f * (1 - f);
    dz[2 * units] = dc * i * (1 - g * g);
    dz[3 * units] = dh * tanh_c * o * (1 - o);
    *kept = dc * f;
  }
}

class Lstm final : public Layer {
 public:
  explicit Lstm(const LayerPlan& plan)
      : plan_(plan),
        in_(static_cast<int>(plan.site.input.channels)),
        units_(static_cast<int>(plan.site.output.channels)),
        steps_(static_cast<int>(plan.site.input.height)),
        steps_out_(static_cast<int>(plan.site.output.height)) {}

  void reserve(int jobs) override {
    const size_t rows = static_cast<size_t>(jobs) * plan_.rows;
    x_.grow(rows * steps_ * in_);
    dx_.grow(rows * steps_ * in_);
    gates_.grow(rows * steps_ * 4 * units_);
    dz_.grow(rows * steps_ * 4 * units_);
    c_.grow(rows * (steps_ + 1) * units_);
    h_.grow(rows * (steps_ + 1) * units_);
    dc_.grow(rows * units_);
  }

  void forward(const Step& step, const float* x, float* y) override {
    const Cells cells = cells_of(step);
    for_each(values(step, in_), step.stream, IntoSteps{x, x_.data(), step.rows, in_, steps_});
    const StoreRows out{
        gates_.data(), bias(step), bias(step) + 4 * units_, step.stride, 4 * units_, steps_ * step.rows, 1,
        false};
    multiply_rows(input_site(step), x_.data(), out);
    // c and h are 0 before the first step.
    const size_t cell_pitch = static_cast<size_t>(steps_ + 1) * step.rows * units_ * sizeof(float);
    const size_t first_step = static_cast<size_t>(step.rows) * units_ * sizeof(float);
    for (Buffer<float>* state : {&c_, &h_}) {
      check(cudaMemset2DAsync(state->data(), cell_pitch, 0, first_step, step.jobs, step.stream),
            "clearing memory");
    }
    with_rows(step.rows, [&](auto rows) {
      const dim3 grid(pieces(units_, kWarps), step.jobs, pieces(step.rows, rows));
      for (int t = 0; t < steps_; ++t)
        lstm_step<rows><<<grid, kWarps * 32, 0, step.stream>>>(cells, recurrent(step), step.stride, t);
    });
    for_each(static_cast<size_t>(step.jobs) * step.rows * units_ * steps_out_, step.stream,
             OutOfSteps{h_.data(), y, static_cast<size_t>(steps_ + 1) * step.rows * units_,
                        steps_ - steps_out_ + 1, step.rows, units_, steps_out_, scale()});
    check_launch("lstm forward");
  }

  void backward(const Step& step, const float*, const float*, const float* dy, float* dx) override {
    const Cells cells = cells_of(step);
    with_rows(step.rows, [&](auto rows) {
      const dim3 grid(pieces(units_, 32), step.jobs, pieces(step.rows, rows));
      for (int t = steps_; t-- > 0;) {
        lstm_step_back<rows><<<grid, kWarps * 32, 0, step.stream>>>(cells, recurrent(step), step.stride, dy,
                                                                    steps_out_, scale(), t);
      }
    });
    const int rows = steps_ * step.rows;
    if (dx != nullptr) {
      row_gradient(input_site(step), dz_.data(), {dx_.data(), nullptr, in_, rows, 1});
      for_each(values(step, in_), step.stream,
               OutOfSteps{dx_.data(), dx, static_cast<size_t>(rows) * in_, 0, step.rows, in_, steps_, 1});
    }
    step_matrix(input_site(step), x_.data(), static_cast<size_t>(rows) * in_, dz_.data());
    step_matrix({step, recurrent(step), units_, 4 * units_, rows, step.client_lr, plan_.tf32}, h_.data(),
                static_cast<size_t>(steps_ + 1) * step.rows * units_, dz_.data());
    step_biases(input_site(step), dz_.data(), bias(step), bias(step) + 4 * units_);
    check_launch("lstm backward");
  }

 private:
  float scale() const { return plan_.site.spec.output_scale; }  // of the h that leaves
  size_t values(const Step& step, int features) const {
    return static_cast<size_t>(step.jobs) * step.rows * steps_ * features;
  }
  float* weights(const Step& step) const { return step.weights + plan_.site.weights_offset; }
  float* recurrent(const Step& step) const { return weights(step) + static_cast<size_t>(4) * units_ * in_; }
  float* bias(const Step& step) const { return recurrent(step) + static_cast<size_t>(4) * units_ * units_; }
  MatrixSite input_site(const Step& step) const {
    return {step, weights(step), in_, 4 * units_, steps_ * step.rows, step.client_lr, plan_.tf32};
  }
  Cells cells_of(const Step& step) {
    return {gates_.data(), c_.data(), h_.data(), dz_.data(), dc_.data(), step.rows, units_, steps_};
  }

  LayerPlan plan_;
  int in_, units_, steps_, steps_out_;
  Buffer<float> x_, dx_, gates_, dz_, c_, h_, dc_;
};

}  // namespace

std::unique_ptr<Layer> make_lstm(const LayerPlan& plan) { return std::make_unique<Lstm>(plan); }

}  // namespace subfleet::cuda
