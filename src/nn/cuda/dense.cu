#include "nn/cuda/thin_backward.cuh"
#include "nn/cuda/thin_forward.cuh"

namespace subfleet::cuda {
namespace {

constexpr int kMostThinRows = 16;

// Calls run(value) with the value as a constant.
template <typename Run>
void with_bool(bool value, Run&& run) {
  return value ? run(std::true_type{}) : run(std::false_type{});
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
      const StoreRows out{y,       weights + static_cast<size_t>(units_) * inputs_,
                          nullptr, step.stride,
                          units_,  step.rows,
                          scale(), plan_.relu_after};
      multiply_rows(site(step), x, out);
    } else {
      // A few units are too few blocks, unless each has fewer of them.
      const bool wide = units_ >= 256;
      const dim3 grid(pieces(units_, wide ? 32 : 16), step.jobs);
      const auto launch = [&](auto kernel) {
        kernel<<<grid, kThreads, 0, step.stream>>>(weights, step.stride, x, y, inputs_, units_, step.rows,
                                                   scale(), plan_.relu_after);
      };
      with_rows(step.rows, [&](auto rows) {
        with_bool(is_aligned(4), [&](auto vector) {
          if (plan_.tf32) {
            launch(wide ? thin_forward<TensorThinSums, rows, 32, vector>
                        : thin_forward<TensorThinSums, rows, 16, vector>);
          } else {
            launch(wide ? thin_forward<PlainThinSums, rows, 32, vector>
                        : thin_forward<PlainThinSums, rows, 16, vector>);
          }
        });
      });
    }
    check_launch("dense forward");
  }

  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    float* weights = weights_of(step);
    if (step.rows > kMostThinRows) {
      if (dx != nullptr) {
        row_gradient(site(step), dy, {dx, plan_.relu_before ? x : nullptr, inputs_, step.rows, scale()});
      }
      step_matrix(site(step), x, static_cast<size_t>(step.rows) * inputs_, dy);
      step_biases(site(step), dy, weights + static_cast<size_t>(units_) * inputs_, nullptr);
    } else {
      const auto launch = [&](auto kernel, int strip) {
        kernel<<<dim3(pieces(inputs_, strip), step.jobs), kWarps * 32, 0, step.stream>>>(
            weights, step.stride, x, dy, dx, inputs_, units_, step.rows, plan_.relu_before, scale(),
            scale() * step.client_lr);
      };
      with_rows(step.rows, [&](auto rows) {
        with_bool(dx != nullptr, [&](auto to_input) {
          with_bool(is_aligned(plan_.tf32 ? 4 : 2), [&](auto vector) {
            if (plan_.tf32) {
              launch(thin_backward_tf32<rows, to_input, vector>, 32);
            } else {
              launch(thin_backward<rows, to_input, vector>, 64);
            }
          });
        });
      });
    }
    check_launch("dense backward");
  }

 private:
  // Whether every row of weights and of x begins at a multiple of `values` values, as a job's first row does.
  bool is_aligned(size_t values) const {
    return inputs_ % values == 0 && plan_.site.weights_offset % values == 0;
  }
  float scale() const { return plan_.site.spec.output_scale; }
  MatrixSite site(const Step& step) const {
    return {step, weights_of(step), inputs_, units_, step.rows, scale() * step.client_lr, plan_.tf32};
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
