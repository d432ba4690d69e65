#include <cmath>
#include <vector>

#include "base/wide_vectors.h"
#include "nn/cpu/lanes.h"
#include "nn/cpu/layer.h"
#include "nn/normalisation.h"

namespace subfleet::cpu {
namespace {

// As in reference/normalisation.cpp. Images lie plain, or in blocks of 16 channels as convolutions like them:
// [N][C / 16][H][W][16], where what is more than C is zero.
class GroupNorm final : public Layer {
 public:
  GroupNorm(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch),
        channels_(site.site.input.channels),
        plane_(site.site.input.height * site.site.input.width),
        ends_(equal_channel_groups(site.site)) {
    const dnnl::memory::desc blocked(plain_layout(batch_, site.site.input).dims(),
                                     dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
    is_blocked_ = site.input.values.get_desc() == blocked;
    const dnnl::memory::desc layout = is_blocked_ ? blocked : plain_layout(batch_, site.site.input);
    padded_ = is_blocked_ ? (channels_ + kLanes - 1) / kLanes * kLanes : channels_;
    input_.values = buffer.reserve_copy(site.input.values, layout);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(layout);
    for (std::vector<float>* of_channels : {&first_, &second_, &third_, &sums_}) of_channels->resize(padded_);
    means_.resize(batch_ * padded_);
    scales_.resize(batch_ * padded_);
    if (!site.training) return;
    output_.gradient = buffer.reserve(layout);
    weight_gradient_.resize(2 * padded_);
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, layout);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void set_channel_groups(std::span<const uint32_t> ends) override { ends_.assign(ends.begin(), ends.end()); }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    for (size_t n = 0; n < batch_; ++n) {
      const float* x = data(input_.values) + n * padded_ * plane_;
      float* y = data(output_.values) + n * padded_ * plane_;
      float *means = means_.data() + n * padded_, *scales = scales_.data() + n * padded_;
      sum_channels([&](size_t i, size_t) { return x[i]; }, sums_);
      for_each_group([&](size_t begin, size_t end) {
        const float mean = total(sums_, begin, end) / values_of(begin, end);
        std::fill(means + begin, means + end, mean);
      });
      sum_channels([&](size_t i, size_t c) { return (x[i] - means[c]) * (x[i] - means[c]); }, sums_);
      for_each_group([&](size_t begin, size_t end) {
        const float variance = total(sums_, begin, end) / values_of(begin, end);
        const float scale = 1 / std::sqrt(variance + static_cast<float>(kNormalisationEpsilon));
        std::fill(scales + begin, scales + end, scale);
        for (size_t c = begin; c < end; ++c) {
          first_[c] = weights[c] * scale;
          second_[c] = weights[channels_ + c] - first_[c] * means[c];
        }
      });
      for_each_value([&](size_t i, size_t c) { y[i] = first_[c] * x[i] + second_[c]; });
    }
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    std::ranges::fill(weight_gradient_, 0.0f);
    float *factor_gradient = weight_gradient_.data(), *bias_gradient = factor_gradient + padded_;
    for (size_t n = 0; n < batch_; ++n) {
      const float* x = data(input_.values) + n * padded_ * plane_;
      const float* dy = data(output_.gradient) + n * padded_ * plane_;
      const float *means = means_.data() + n * padded_, *scales = scales_.data() + n * padded_;
      sum_channels([&](size_t i, size_t) { return dy[i]; }, sums_);
      sum_channels([&](size_t i, size_t c) { return dy[i] * ((x[i] - means[c]) * scales[c]); }, third_);
      for (size_t c = 0; c < channels_; ++c) {
        bias_gradient[c] += sums_[c];
        factor_gradient[c] += third_[c];
      }
      if (!input_.gradient) continue;
      for_each_group([&](size_t begin, size_t end) {
        float sum = 0, product = 0;  // of the normalised values' gradients, and of them times the values
        for (size_t c = begin; c < end; ++c) {
          sum += weights[c] * sums_[c];
          product += weights[c] * third_[c];
        }
        const float scale = scales[begin], count = values_of(begin, end);
        // dx = scale (w dy - sum / count - normal product / count), with normal = (x - mean) scale
        const float of_x = -scale * scale * product / count;
        const float rest = -scale * sum / count - of_x * means[begin];
        for (size_t c = begin; c < end; ++c) {
          first_[c] = scale * weights[c];
          second_[c] = of_x;
          third_[c] = rest;
        }
      });
      float* dx = data(input_.gradient) + n * padded_ * plane_;
      for_each_value([&](size_t i, size_t c) { dx[i] = first_[c] * dy[i] + second_[c] * x[i] + third_[c]; });
    }
    for (size_t c = 0; c < channels_; ++c) {
      weights[c] -= client_lr * factor_gradient[c];
      weights[channels_ + c] -= client_lr * bias_gradient[c];
    }
    deliver_gradient_.run(stream);
  }

 private:
  // Calls visit(first channel, end) for every group that has channels.
  template <typename Visit>
  void for_each_group(const Visit& visit) const {
    size_t begin = 0;
    for (const uint32_t end : ends_) {
      if (begin < end) visit(begin, end);
      begin = end;
    }
  }

  float values_of(size_t begin, size_t end) const { return static_cast<float>((end - begin) * plane_); }

  static float total(const std::vector<float>& of_channels, size_t begin, size_t end) {
    float sum = 0;
    for (size_t c = begin; c < end; ++c) sum += of_channels[c];
    return sum;
  }

  // Calls visit(index, channel) for every value of an example.
  template <typename Visit>
  void for_each_value(const Visit& visit) const {
    on_wide_vectors([&] {
      if (is_blocked_) {
        for (size_t block = 0; block < padded_; block += kLanes) {
          for (size_t at = 0; at < plane_; ++at) {
#pragma omp simd
            for (size_t lane = 0; lane < kLanes; ++lane)
              visit(block * plane_ + at * kLanes + lane, block + lane);
          }
        }
        return;
      }
      for (size_t c = 0; c < channels_; ++c) {
#pragma omp simd
        for (size_t at = 0; at < plane_; ++at) visit(c * plane_ + at, c);
      }
    });
  }

  // The sum of value(index, channel) over each channel of an example.
  template <typename Value>
  void sum_channels(const Value& value, std::vector<float>& sums) const {
    on_wide_vectors([&] {
      if (is_blocked_) {
        for (size_t block = 0; block < padded_; block += kLanes) {
          std::array<float, kLanes> lanes{};
          for (size_t at = 0; at < plane_; ++at) {
#pragma omp simd
            for (size_t lane = 0; lane < kLanes; ++lane) {
              lanes[lane] += value(block * plane_ + at * kLanes + lane, block + lane);
            }
          }
          std::copy(lanes.begin(), lanes.end(), sums.begin() + static_cast<ptrdiff_t>(block));
        }
        return;
      }
      for (size_t c = 0; c < channels_; ++c) {
        sums[c] = lane_sum(plane_, [&](size_t at) { return value(c * plane_ + at, c); });
      }
    });
  }

  size_t batch_, channels_, plane_;
  size_t padded_ = 0;  // channels with those that fill the last block
  bool is_blocked_ = false;
  std::vector<uint32_t> ends_;
  Flow input_, output_;
  Call fetch_values_, deliver_gradient_;
  std::vector<float> means_, scales_;                 // of each channel of each example
  std::vector<float> first_, second_, third_, sums_;  // of each channel; what fills a block stays 0
  std::vector<float> weight_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_groupnorm(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<GroupNorm>(buffer, site);
}

}  // namespace subfleet::cpu
