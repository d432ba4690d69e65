#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Hochreiter and Schmidhuber, 1997, with forget gates, as PyTorch writes it. From x[t] and h[t-1]:
//   i, f, o = sigmoid(z), g = tanh(z), each with its own rows of  z = W_ih x + W_hh h + b_ih + b_hh
//   c[t] = f c[t-1] + i g,  h[t] = o tanh(c[t]);  c and h are 0 before the first step.
class Lstm final : public Layer {
 public:
  explicit Lstm(const LayerSite& site)
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
  // One example's way through time. c and h begin with their zeros, so that c[t + 1] is after step t.
  struct Trace {
    std::vector<double> gates, c, h;
  };

  size_t rows() const { return 4 * units_; }
  size_t first_out() const { return steps_ - steps_out_; }
  size_t recurrent(size_t row, size_t u) const { return rows() * in_ + row * units_ + u; }
  size_t bias_in(size_t row) const { return rows() * (in_ + units_) + row; }
  size_t bias_recurrent(size_t row) const { return bias_in(row) + rows(); }

  Trace run(std::span<const float> weights, std::span<const double> x) const {
    Trace trace{.gates = std::vector<double>(steps_ * rows()),
                .c = std::vector<double>((steps_ + 1) * units_),
                .h = std::vector<double>((steps_ + 1) * units_)};
    for (size_t t = 0; t < steps_; ++t) {
      double* gates = &trace.gates[t * rows()];
      for (size_t row = 0; row < rows(); ++row) {
        double z = double{weights[bias_in(row)]} + double{weights[bias_recurrent(row)]};
        for (size_t i = 0; i < in_; ++i) z += weights[row * in_ + i] * x[i * steps_ + t];
        for (size_t u = 0; u < units_; ++u) z += weights[recurrent(row, u)] * trace.h[t * units_ + u];
        gates[row] = row / units_ == 2 ? std::tanh(z) : sigmoid(z);
      }
      for (size_t u = 0; u < units_; ++u) {
        const double i = gates[u], f = gates[units_ + u], g = gates[2 * units_ + u],
                     o = gates[3 * units_ + u];
        const double c = f * trace.c[t * units_ + u] + i * g;
        trace.c[(t + 1) * units_ + u] = c;
        trace.h[(t + 1) * units_ + u] = o * std::tanh(c);
      }
    }
    return trace;
  }

  void backward_through_time(std::span<const float> weights, const Backward& pass, size_t n) const {
    const std::span<const double> x = pass.input.subspan(n * in_ * steps_, in_ * steps_);
    const Trace trace = run(weights, x);
    std::vector<double> dh(units_, 0.0), dc(units_, 0.0), dz(rows());
    for (size_t t = steps_; t-- > 0;) {
      const double* gates = &trace.gates[t * rows()];
      for (size_t u = 0; u < units_; ++u) {
        const double i = gates[u], f = gates[units_ + u], g = gates[2 * units_ + u],
                     o = gates[3 * units_ + u];
        const double tanh_c = std::tanh(trace.c[(t + 1) * units_ + u]);
        if (t >= first_out()) dh[u] += pass.output_gradient[(n * units_ + u) * steps_out_ + t - first_out()];
        dc[u] += dh[u] * o * (1 - tanh_c * tanh_c);
        dz[u] = dc[u] * g * i * (1 - i);
        dz[units_ + u] = dc[u] * trace.c[t * units_ + u] * f * (1 - f);
        dz[2 * units_ + u] = dc[u] * i * (1 - g * g);
        dz[3 * units_ + u] = dh[u] * tanh_c * o * (1 - o);
        dc[u] *= f;
      }
      std::ranges::fill(dh, 0.0);
      for (size_t row = 0; row < rows(); ++row) {
        for (size_t i = 0; i < in_; ++i) {
          pass.weight_gradient[row * in_ + i] += dz[row] * x[i * steps_ + t];
          if (!pass.input_gradient.empty())
            pass.input_gradient[(n * in_ + i) * steps_ + t] += dz[row] * weights[row * in_ + i];
        }
        for (size_t u = 0; u < units_; ++u) {
          pass.weight_gradient[recurrent(row, u)] += dz[row] * trace.h[t * units_ + u];
          dh[u] += dz[row] * weights[recurrent(row, u)];
        }
        pass.weight_gradient[bias_in(row)] += dz[row];
        pass.weight_gradient[bias_recurrent(row)] += dz[row];
      }
    }
  }

  size_t in_, units_, steps_;
  size_t steps_out_;  // all of them, or the last
};

}  // namespace

std::unique_ptr<Layer> make_lstm(const LayerSite& site) { return std::make_unique<Lstm>(site); }

}  // namespace subfleet::reference
