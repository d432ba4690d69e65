#include "nn/cuda/elementwise.cuh"
#include "nn/cuda/layer.h"

namespace subfleet::cuda {
namespace {

struct Table {
  float* weights;  // [symbol][unit]
  size_t stride;
  int symbols, units, steps, rows;
  float scale;
};

// y[row][unit][t] = scale * weight[x[row][t]][unit]. The symbols were checked when the examples were
// uploaded.
struct Forward {
  Table t;
  const float* x;
  float* y;
  __device__ void operator()(size_t i) const {
    const int step = static_cast<int>(i % t.steps), unit = static_cast<int>(i / t.steps % t.units);
    const size_t row = i / (static_cast<size_t>(t.steps) * t.units);  // of all jobs
    const int symbol = static_cast<int>(x[row * t.steps + step]);
    y[i] = t.scale * t.weights[row / t.rows * t.stride + static_cast<size_t>(symbol) * t.units + unit];
  }
};

// A thread owns a weight and looks for its symbol in all rows, so that the sum has one order.
struct Backward {
  Table t;
  const float *x, *dy;
  float client_lr;
  __device__ void operator()(size_t i) const {
    const size_t size = static_cast<size_t>(t.symbols) * t.units, job = i / size;
    const int unit = static_cast<int>(i % t.units), symbol = static_cast<int>(i % size / t.units);
    const float* symbols = x + job * t.rows * t.steps;
    const float* gradients = dy + job * t.rows * t.units * t.steps;
    float sum = 0;
    for (int row = 0; row < t.rows; ++row) {
      for (int step = 0; step < t.steps; ++step) {
        if (static_cast<int>(symbols[row * t.steps + step]) == symbol)
          sum += gradients[(static_cast<size_t>(row) * t.units + unit) * t.steps + step];
      }
    }
    float* w = t.weights + job * t.stride + i % size;
    *w = fmaf(-client_lr * t.scale, sum, *w);
  }
};

class Embedding final : public Layer {
 public:
  explicit Embedding(const LayerPlan& plan) : plan_(plan) {}

  void forward(const Step& step, const float* x, float* y) override {
    for_each(plan_.site.output.size() * step.rows * step.jobs, step.stream, Forward{table(step), x, y});
    check_launch("embedding forward");
  }
  // There is no gradient with respect to a symbol.
  void backward(const Step& step, const float* x, const float*, const float* dy, float*) override {
    for_each(plan_.site.weights_count * step.jobs, step.stream, Backward{table(step), x, dy, step.client_lr});
    check_launch("embedding backward");
  }

 private:
  Table table(const Step& step) const {
    return {step.weights + plan_.site.weights_offset,
            step.stride,
            static_cast<int>(plan_.site.spec.symbols),
            static_cast<int>(plan_.site.output.channels),
            static_cast<int>(plan_.site.output.height),
            step.rows,
            plan_.site.spec.output_scale};
  }

  LayerPlan plan_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const LayerPlan& plan) { return std::make_unique<Embedding>(plan); }

}  // namespace subfleet::cuda
