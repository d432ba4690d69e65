#include "nn/cuda/layer.h"
#include "subfleet/error.h"

namespace subfleet::cuda {
namespace {

struct Planes {
  int height, width, out_height, out_width, window;
};

constexpr int kBlock = 256, kPlanes = 4;

// The largest value of each window; of equal ones, the first in row order. Its place is kept for the backward
// pass. A thread has the same pixel of kPlanes planes. Grid: planes of all channels, rows and jobs; pixels.
__global__ void pool_forward(Planes p, size_t planes, const float* x, float* y, uint8_t* from) {
  const int pixel = blockIdx.y * kBlock + threadIdx.x;
  if (pixel >= p.out_height * p.out_width) return;
  const int row = pixel / p.out_width, column = pixel - row * p.out_width;
  const size_t corner = row * p.window * p.width + column * p.window;
  float best[kPlanes];
  int place[kPlanes];
  size_t plane[kPlanes];
#pragma unroll
  for (int i = 0; i < kPlanes; ++i) {
    plane[i] = min(planes - 1, static_cast<size_t>(blockIdx.x) * kPlanes + i);
    best[i] = x[plane[i] * p.height * p.width + corner];
    place[i] = 0;
  }
  for (int r = 0; r < p.window; ++r) {
    for (int c = 0; c < p.window; ++c) {
#pragma unroll
      for (int i = 0; i < kPlanes; ++i) {
        const float value = x[plane[i] * p.height * p.width + corner + r * p.width + c];
        if (value > best[i]) best[i] = value, place[i] = r * p.window + c;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kPlanes; ++i) {
    if (static_cast<size_t>(blockIdx.x) * kPlanes + i >= planes) return;
    const size_t at = plane[i] * p.out_height * p.out_width + pixel;
    y[at] = best[i];
    from[at] = static_cast<uint8_t>(place[i]);
  }
}

// An input gets a gradient if it was the largest of its window; inputs beyond the last window get 0.
__global__ void pool_backward(Planes p, size_t planes, const float* y, const float* dy, const uint8_t* from,
                              float* dx, bool relu_before) {
  const int pixel = blockIdx.y * kBlock + threadIdx.x;
  if (pixel >= p.height * p.width) return;
  const int row = pixel / p.width, column = pixel - row * p.width;
  const int out_row = row / p.window, out_column = column / p.window;
  const bool inside = out_row < p.out_height && out_column < p.out_width;
  const int place = (row - out_row * p.window) * p.window + column - out_column * p.window;
  const size_t window = inside ? out_row * p.out_width + out_column : 0;
  float value[kPlanes], came[kPlanes];
  int largest[kPlanes];
#pragma unroll
  for (int i = 0; i < kPlanes; ++i) {  // all are asked for before one is looked at
    const size_t plane = min(planes - 1, static_cast<size_t>(blockIdx.x) * kPlanes + i);
    const size_t out = plane * p.out_height * p.out_width + window;
    value[i] = y[out];
    came[i] = dy[out];
    largest[i] = from[out];
  }
#pragma unroll
  for (int i = 0; i < kPlanes; ++i) {
    const size_t plane = static_cast<size_t>(blockIdx.x) * kPlanes + i;
    if (plane >= planes) return;
    const bool learns = inside && largest[i] == place && !(relu_before && !(value[i] > 0));
    dx[plane * p.height * p.width + pixel] = learns ? came[i] : 0.0f;
  }
}

class MaxPool final : public Layer {
 public:
  explicit MaxPool(const LayerPlan& plan)
      : plan_(plan),
        planes_{static_cast<int>(plan.site.input.height), static_cast<int>(plan.site.input.width),
                static_cast<int>(plan.site.output.height), static_cast<int>(plan.site.output.width),
                static_cast<int>(plan.site.spec.kernel)} {
    if (planes_.window > 16)
      throw bad_request("device cuda", "a maxpool of more than 16x16; use --device cpu");
  }

  void reserve(int jobs) override { from_.grow(plan_.site.output.size() * plan_.rows * jobs); }

  void forward(const Step& step, const float* x, float* y) override {
    pool_forward<<<grid(step, plan_.site.output), kBlock, 0, step.stream>>>(planes_, planes(step), x, y,
                                                                            from_.data());
    check_launch("maxpool forward");
  }
  void backward(const Step& step, const float*, const float* y, const float* dy, float* dx) override {
    if (dx == nullptr) return;
    pool_backward<<<grid(step, plan_.site.input), kBlock, 0, step.stream>>>(
        planes_, planes(step), y, dy, from_.data(), dx, plan_.relu_before);
    check_launch("maxpool backward");
  }

 private:
  size_t planes(const Step& step) const { return plan_.site.input.channels * step.rows * step.jobs; }
  dim3 grid(const Step& step, const Shape& shape) const {
    const size_t pixels = shape.height * shape.width;
    return dim3(static_cast<unsigned>((planes(step) + kPlanes - 1) / kPlanes),
                static_cast<unsigned>((pixels + kBlock - 1) / kBlock));
  }

  LayerPlan plan_;
  Planes planes_;
  Buffer<uint8_t> from_;
};

}  // namespace

std::unique_ptr<Layer> make_maxpool(const LayerPlan& plan) { return std::make_unique<MaxPool>(plan); }

}  // namespace subfleet::cuda
