#include <algorithm>
#include <cmath>
#include <vector>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// From x[t] the rows of the weights make q[t], k[t] and v[t] of each head; with d features per head
//   p[t][s] = softmax over s of q[t] k[s] / sqrt(d),  y[t] = sum over s of p[t][s] v[s];  causal: over s <= t
//   alone.
class Attention final : public Layer {
 public:
  explicit Attention(const LayerSite& site)
      : in_(site.input.channels),
        steps_(site.input.height),
        width_(site.output.channels),
        size_(site.spec.head_units),
        causal_(site.spec.causal) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t n = 0; n < input.size() / (in_ * steps_); ++n) {
      const std::vector<double> projected = project(weights, input.subspan(n * in_ * steps_, in_ * steps_));
      for (size_t head = 0; head < width_ / size_; ++head) {
        const std::vector<double> shares = attend(projected, head);
        for (size_t d = 0; d < size_; ++d) {
          const size_t row = head * size_ + d;
          for (size_t t = 0; t < steps_; ++t) {
            double sum = 0;
            for (size_t s = 0; s < seen(t); ++s) sum += shares[t * steps_ + s] * projected[at(2, row, s)];
            output[(n * width_ + row) * steps_ + t] = sum;
          }
        }
      }
    }
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    for (size_t n = 0; n < pass.input.size() / (in_ * steps_); ++n) {
      const std::span<const double> x = pass.input.subspan(n * in_ * steps_, in_ * steps_);
      const std::vector<double> projected = project(weights, x);
      std::vector<double> gradient(projected.size(), 0.0);
      for (size_t head = 0; head < width_ / size_; ++head) {
        backward_of_head(projected, head, pass.output_gradient.subspan(n * width_ * steps_, width_ * steps_),
                         gradient);
      }
      for (size_t row = 0; row < 3 * width_; ++row) {
        for (size_t t = 0; t < steps_; ++t) {
          const double g = gradient[row * steps_ + t];
          pass.weight_gradient[3 * width_ * in_ + row] += g;
          for (size_t i = 0; i < in_; ++i) {
            pass.weight_gradient[row * in_ + i] += g * x[i * steps_ + t];
            if (!pass.input_gradient.empty())
              pass.input_gradient[(n * in_ + i) * steps_ + t] += g * weights[row * in_ + i];
          }
        }
      }
    }
  }

 private:
  // Of the queries (part 0), keys (1) and values (2).
  size_t at(size_t part, size_t row, size_t t) const { return (part * width_ + row) * steps_ + t; }
  size_t seen(size_t t) const { return causal_ ? t + 1 : steps_; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(size_)); }

  std::vector<double> project(std::span<const float> weights, std::span<const double> x) const {
    std::vector<double> projected(3 * width_ * steps_);
    for (size_t row = 0; row < 3 * width_; ++row) {
      for (size_t t = 0; t < steps_; ++t) {
        double sum = weights[3 * width_ * in_ + row];
        for (size_t i = 0; i < in_; ++i) sum += weights[row * in_ + i] * x[i * steps_ + t];
        projected[row * steps_ + t] = sum;
      }
    }
    return projected;
  }

  // p[t][s] of a head; 0 for what is not seen.
  std::vector<double> attend(const std::vector<double>& projected, size_t head) const {
    std::vector<double> shares(steps_ * steps_, 0.0);
    for (size_t t = 0; t < steps_; ++t) {
      double* row = &shares[t * steps_];
      for (size_t s = 0; s < seen(t); ++s) {
        for (size_t d = 0; d < size_; ++d) {
          row[s] += projected[at(0, head * size_ + d, t)] * projected[at(1, head * size_ + d, s)];
        }
        row[s] *= scale();
      }
      const double largest = *std::max_element(row, row + seen(t));
      double total = 0;
      for (size_t s = 0; s < seen(t); ++s) total += row[s] = std::exp(row[s] - largest);
      for (size_t s = 0; s < seen(t); ++s) row[s] /= total;
    }
    return shares;
  }

  void backward_of_head(const std::vector<double>& projected, size_t head, std::span<const double> dy,
                        std::vector<double>& gradient) const {
    const std::vector<double> shares = attend(projected, head);
    for (size_t t = 0; t < steps_; ++t) {
      const double* p = &shares[t * steps_];
      std::vector<double> dp(steps_, 0.0);
      double mean = 0;  // of dp, weighted by p
      for (size_t s = 0; s < seen(t); ++s) {
        for (size_t d = 0; d < size_; ++d) {
          const double g = dy[(head * size_ + d) * steps_ + t];
          dp[s] += g * projected[at(2, head * size_ + d, s)];
          gradient[at(2, head * size_ + d, s)] += p[s] * g;
        }
        mean += p[s] * dp[s];
      }
      for (size_t s = 0; s < seen(t); ++s) {
        const double dz = p[s] * (dp[s] - mean) * scale();
        for (size_t d = 0; d < size_; ++d) {
          const size_t row = head * size_ + d;
          gradient[at(0, row, t)] += dz * projected[at(1, row, s)];
          gradient[at(1, row, s)] += dz * projected[at(0, row, t)];
        }
      }
    }
  }

  size_t in_, steps_;
  size_t width_, size_;  // features of all heads, and of one
  bool causal_;
};

}  // namespace

std::unique_ptr<Layer> make_attention(const LayerSite& site) { return std::make_unique<Attention>(site); }

}  // namespace subfleet::reference
