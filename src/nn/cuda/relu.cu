#include "nn/cuda/elementwise.cuh"
#include "nn/cuda/layer.h"

// Used only if the layer before does not do the ReLU itself.
namespace subfleet::cuda {
namespace {

struct Forward {
  const float* x;
  float* y;
  __device__ void operator()(size_t i) const { y[i] = x[i] > 0 ? x[i] : 0.0f; }
};

struct Backward {
  const float *x, *dy;
  float* dx;
  __device__ void operator()(size_t i) const { dx[i] = x[i] > 0 ? dy[i] : 0.0f; }
};

class Relu final : public Layer {
 public:
  explicit Relu(const LayerPlan& plan) : size_(plan.site.input.size()) {}

  void forward(const Step& step, const float* x, float* y) override {
    for_each(size_ * step.rows * step.jobs, step.stream, Forward{x, y});
    check_launch("relu forward");
  }
  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    if (dx == nullptr) return;
    for_each(size_ * step.rows * step.jobs, step.stream, Backward{x, dy, dx});
    check_launch("relu backward");
  }

 private:
  size_t size_;
};

}  // namespace

std::unique_ptr<Layer> make_relu(const LayerPlan& plan) { return std::make_unique<Relu>(plan); }

}  // namespace subfleet::cuda
