#include "nn/cuda/elementwise.cuh"
#include "nn/cuda/layer.h"

namespace subfleet::cuda {
namespace {

struct Forward {
  const float* x;
  float* y;
  int pixels;
  __device__ void operator()(size_t i) const {
    float sum = 0;
    for (int pixel = 0; pixel < pixels; ++pixel) sum += x[i * pixels + pixel];
    y[i] = sum / static_cast<float>(pixels);
  }
};

struct Backward {
  const float *x, *dy;
  float* dx;
  int pixels;
  bool relu_before;
  __device__ void operator()(size_t i) const {
    dx[i] = relu_before && !(x[i] > 0) ? 0.0f : dy[i / pixels] / static_cast<float>(pixels);
  }
};

// The mean of each channel.
class AvgPool final : public Layer {
 public:
  explicit AvgPool(const LayerPlan& plan)
      : plan_(plan), pixels_(static_cast<int>(plan.site.input.height * plan.site.input.width)) {}

  void forward(const Step& step, const float* x, float* y) override {
    for_each(plan_.site.output.size() * step.rows * step.jobs, step.stream, Forward{x, y, pixels_});
    check_launch("avgpool forward");
  }
  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    if (dx == nullptr) return;
    for_each(plan_.site.input.size() * step.rows * step.jobs, step.stream,
             Backward{x, dy, dx, pixels_, plan_.relu_before});
    check_launch("avgpool backward");
  }

 private:
  LayerPlan plan_;
  int pixels_;
};

}  // namespace

std::unique_ptr<Layer> make_avgpool(const LayerPlan& plan) { return std::make_unique<AvgPool>(plan); }

}  // namespace subfleet::cuda
