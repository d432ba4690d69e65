#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Cho et al., 2014, as PyTorch writes it. From x[t] and h[t-1], each gate with its own rows:
//   r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh),  n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//   h[t] = (1 - z) n + z h[t-1];  h is 0 before the first step.
class Gru final : public Layer {
 public:
  explicit Gru(const LayerSite& site)
      : in_(site.input.channels),
        units_(site.output.channels),
        steps_(site.input.height),
        steps_out_(site.output.height) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t n = 0; n < input.size() / (in_ * steps_); ++n) {
      const Trace trace = run(weights, input.subspan(n * in_ * steps_, in_ * steps_));
      for (size_t u = 0; u < units_; ++u) {
        for (size_t t = 0; t < steps_out_; ++t) {
          output[(n * units_ + u) * steps_out_ + t] = trace.h[(first_out() + t + 1) * units_ + u];
        }
      }
    }
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    for (size_t n = 0; n < pass.input.size() / (in_ * steps_); ++n) backward_through_time(weights, pass, n);
  }

 private:
  // One example's way through time; h begins with its zeros. `recurrent` is W_hn h + b_hn.
  struct Trace {
    std::vector<double> gates, recurrent, h;
  };

  size_t rows() const { return 3 * units_; }
  size_t first_out() const { return steps_ - steps_out_; }
  size_t recurrent(size_t row, size_t u) const { return rows() * in_ + row * units_ + u; }
  size_t bias_in(size_t row) const { return rows() * (in_ + units_) + row; }
  size_t bias_recurrent(size_t row) const { return bias_in(row) + rows(); }

  Trace run(std::span<const float> weights, std::span<const double> x) const {
    Trace trace{.gates = std::vector<double>(steps_ * rows()),
                .recurrent = std::vector<double>(steps_ * units_),
                .h = std::vector<double>((steps_ + 1) * units_)};
    for (size_t t = 0; t < steps_; ++t) {
      double* gates = &trace.gates[t * rows()];
      for (size_t row = 0; row < rows(); ++row) {
        double from_input = weights[bias_in(row)], from_h = weights[bias_recurrent(row)];
        for (size_t i = 0; i < in_; ++i) from_input += weights[row * in_ + i] * x[i * steps_ + t];
        for (size_t u = 0; u < units_; ++u) from_h += weights[recurrent(row, u)] * trace.h[t * units_ + u];
        if (row < 2 * units_) {
          gates[row] = sigmoid(from_input + from_h);
          continue;
        }
        trace.recurrent[t * units_ + row - 2 * units_] = from_h;
        gates[row] = std::tanh(from_input + gates[row - 2 * units_] * from_h);
      }
      for (size_t u = 0; u < units_; ++u) {
        const double z = gates[units_ + u], n = gates[2 * units_ + u];
        trace.h[(t + 1) * units_ + u] = (1 - z) * n + z * trace.h[t * units_ + u];
      }
    }
    return trace;
  }

  void backward_through_time(std::span<const float> weights, const Backward& pass, size_t n) const {
    const std::span<const double> x = pass.input.subspan(n * in_ * steps_, in_ * steps_);
    const Trace trace = run(weights, x);
    std::vector<double> dh(units_, 0.0), from_input(rows()), from_h(rows());
    for (size_t t = steps_; t-- > 0;) {
      const double* gates = &trace.gates[t * rows()];
      const double* before = &trace.h[t * units_];
      for (size_t u = 0; u < units_; ++u) {
        const double r = gates[u], z = gates[units_ + u], candidate = gates[2 * units_ + u];
        if (t >= first_out()) dh[u] += pass.output_gradient[(n * units_ + u) * steps_out_ + t - first_out()];
        const double dn = dh[u] * (1 - z) * (1 - candidate * candidate);
        from_input[2 * units_ + u] = dn;
        from_h[2 * units_ + u] = dn * r;
        from_input[u] = from_h[u] = dn * trace.recurrent[t * units_ + u] * r * (1 - r);
        from_input[units_ + u] = from_h[units_ + u] = dh[u] * (before[u] - candidate) * z * (1 - z);
        dh[u] *= z;
      }
      for (size_t row = 0; row < rows(); ++row) {
        for (size_t i = 0; i < in_; ++i) {
          pass.weight_gradient[row * in_ + i] += from_input[row] * x[i * steps_ + t];
          if (!pass.input_gradient.empty())
            pass.input_gradient[(n * in_ + i) * steps_ + t] += from_input[row] * weights[row * in_ + i];
        }
        for (size_t u = 0; u < units_; ++u) {
          pass.weight_gradient[recurrent(row, u)] += from_h[row] * before[u];
          dh[u] += from_h[row] * weights[recurrent(row, u)];
        }
        pass.weight_gradient[bias_in(row)] += from_input[row];
        pass.weight_gradient[bias_recurrent(row)] += from_h[row];
      }
    }
  }

  size_t in_, units_, steps_;
  size_t steps_out_;  // all of them, or the last
};

}  // namespace

std::unique_ptr<Layer> make_gru(const LayerSite& site) { return std::make_unique<Gru>(site); }

}  // namespace subfleet::reference
