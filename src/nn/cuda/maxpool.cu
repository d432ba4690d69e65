#include "nn/cuda/elementwise.cuh"
#include "nn/cuda/layer.h"

namespace subfleet::cuda {
namespace {

struct Planes {
  int height, width, out_height, out_width, window;
};

// The largest of each window and, of equal ones, the first in row order: where it was is kept for the way
// back.
struct Forward {
  Planes p;
  const float* x;
  float* y;
  uint32_t* from;  // place in the window
  __device__ void operator()(size_t i) const {
    const int per_plane = p.out_height * p.out_width;
    const size_t plane = i / per_plane;
    const int pixel = static_cast<int>(i - plane * per_plane);
    const int row = pixel / p.out_width, column = pixel - row * p.out_width;
    const float* corner = x + (plane * p.height + row * p.window) * p.width + column * p.window;
    float best = corner[0];
    uint32_t place = 0;
    for (int r = 0; r < p.window; ++r) {
      for (int c = 0; c < p.window; ++c) {
        const float value = corner[r * p.width + c];
        if (value > best) best = value, place = r * p.window + c;
      }
    }
    y[i] = best;
    from[i] = place;
  }
};

// Every input asks its window whether it was the largest; those beyond the last window were not.
struct Backward {
  Planes p;
  const float *y, *dy;
  const uint32_t* from;
  float* dx;
  bool relu_before;
  __device__ void operator()(size_t i) const {
    const int per_plane = p.height * p.width;
    const size_t plane = i / per_plane;
    const int pixel = static_cast<int>(i - plane * per_plane);
    const int row = pixel / p.width, column = pixel - row * p.width;
    const int out_row = row / p.window, out_column = column / p.window;
    float gradient = 0;
    if (out_row < p.out_height && out_column < p.out_width) {
      const size_t out = (plane * p.out_height + out_row) * p.out_width + out_column;
      const uint32_t place = (row - out_row * p.window) * p.window + column - out_column * p.window;
      if (from[out] == place && !(relu_before && !(y[out] > 0))) gradient = dy[out];
    }
    dx[i] = gradient;
  }
};

class MaxPool final : public Layer {
 public:
  explicit MaxPool(const LayerPlan& plan)
      : plan_(plan),
        planes_{static_cast<int>(plan.site.input.height), static_cast<int>(plan.site.input.width),
                static_cast<int>(plan.site.output.height), static_cast<int>(plan.site.output.width),
                static_cast<int>(plan.site.spec.kernel)} {}

  void reserve(int jobs) override { from_.grow(plan_.site.output.size() * plan_.rows * jobs); }

  void forward(const Step& step, const float* x, float* y) override {
    for_each(plan_.site.output.size() * step.rows * step.jobs, step.stream,
             Forward{planes_, x, y, from_.data()});
    check_launch("maxpool forward");
  }
  void backward(const Step& step, const float*, const float* y, const float* dy, float* dx) override {
    if (dx == nullptr) return;
    for_each(plan_.site.input.size() * step.rows * step.jobs, step.stream,
             Backward{planes_, y, dy, from_.data(), dx, plan_.relu_before});
    check_launch("maxpool backward");
  }

 private:
  LayerPlan plan_;
  Planes planes_;
  Buffer<uint32_t> from_;
};

}  // namespace

std::unique_ptr<Layer> make_maxpool(const LayerPlan& plan) { return std::make_unique<MaxPool>(plan); }

}  // namespace subfleet::cuda
