#include "nn/cpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "subfleet/random.h"

namespace subfleet::cpu {
namespace {

std::vector<float> random_values(size_t count, uint32_t stream) {
  Random random({.seed = 21, .client = stream});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

// One layer's arithmetic, written as in the book and in double.
struct PlainDense {
  DenseSize size;
  std::vector<float> x = random_values(size.batch * size.in, 1), w = random_values(size.out * size.in, 2),
                     bias = random_values(size.out, 3), dy = random_values(size.batch * size.out, 4);
  float client_lr = 0.25f;

  std::vector<double> forward() const {
    std::vector<double> y;
    for (size_t n = 0; n < size.batch; ++n) {
      for (size_t o = 0; o < size.out; ++o) {
        double sum = bias[o];
        for (size_t i = 0; i < size.in; ++i) sum += double{x[n * size.in + i]} * double{w[o * size.in + i]};
        y.push_back(sum);
      }
    }
    return y;
  }

  std::vector<double> input_gradient() const {
    std::vector<double> dx(size.batch * size.in);
    for (size_t n = 0; n < size.batch; ++n) {
      for (size_t o = 0; o < size.out; ++o) {
        for (size_t i = 0; i < size.in; ++i)
          dx[n * size.in + i] += double{dy[n * size.out + o]} * double{w[o * size.in + i]};
      }
    }
    return dx;
  }

  std::vector<double> stepped_weights() const {
    std::vector<double> stepped(w.begin(), w.end());
    for (size_t n = 0; n < size.batch; ++n) {
      for (size_t o = 0; o < size.out; ++o) {
        const double slope = double{client_lr} * double{dy[n * size.out + o]};
        for (size_t i = 0; i < size.in; ++i) stepped[o * size.in + i] -= slope * double{x[n * size.in + i]};
      }
    }
    return stepped;
  }

  std::vector<double> stepped_bias() const {
    std::vector<double> stepped(bias.begin(), bias.end());
    for (size_t i = 0; i < dy.size(); ++i) stepped[i % size.out] -= double{client_lr} * double{dy[i]};
    return stepped;
  }
};

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 const std::string& what, double most = 3e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  double error = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    error = std::max(error, std::abs(double{actual[i]} - expected[i]) / (1 + std::abs(expected[i])));
  }
  EXPECT_LT(error, most) << what;
}

std::vector<DenseSize> odd_sizes() {
  std::vector<DenseSize> sizes{{10, 64, 32}, {10, 1, 1}, {33, 50, 9}, {20, 33, 4}};
  for (size_t batch = 1; batch <= 11; ++batch) sizes.push_back({batch, 59 + batch, 11 + batch});
  for (const size_t in : {3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48}) sizes.push_back({10, in, 5});
  return sizes;
}

TEST(Kernels, AllOfThisCpuAgreeWithPlainArithmeticOnOddSizes) {
  for (const Kernels* kernels : usable_kernels()) {
    for (const DenseSize& size : odd_sizes()) {
      const PlainDense plain{size};
      const std::string what(kernels->name);
      std::vector<float> y(size.batch * size.out), dx(size.batch * size.in), scratch(scratch_floats(size));
      kernels->dense_forward(size, plain.x.data(), plain.w.data(), plain.bias.data(), y.data());
      expect_near(y, plain.forward(), what + " forward");
      for (const bool wants_dx : {true, false}) {
        std::vector<float> w = plain.w, bias = plain.bias;
        kernels->dense_backward({.size = size,
                                 .x = plain.x.data(),
                                 .dy = plain.dy.data(),
                                 .client_lr = plain.client_lr,
                                 .w = w.data(),
                                 .bias = bias.data(),
                                 .dx = wants_dx ? dx.data() : nullptr,
                                 .scratch = scratch.data()});
        expect_near(w, plain.stepped_weights(), what + " weights");
        expect_near(bias, plain.stepped_bias(), what + " bias");
      }
      expect_near(dx, plain.input_gradient(), what + " input gradient");
    }
  }
}

// A convolution by its definition, in double, and its gradients; N,H,W,C.
struct PlainConv {
  ConvSize size;
  size_t pixels = size.batch * size.height * size.width;
  std::vector<float> x = random_values(pixels * size.in, 5), w = random_values(size.out * size.in * 25, 6),
                     bias = random_values(size.out, 7), dy = random_values(pixels * size.out, 8);
  float client_lr = 0.25f;
  std::vector<double> y = std::vector<double>(pixels * size.out), dx = std::vector<double>(pixels * size.in),
                      stepped_w = {w.begin(), w.end()}, stepped_bias = {bias.begin(), bias.end()};

  void run() {
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      for (size_t o = 0; o < size.out; ++o) {
        y[pixel * size.out + o] += double{bias[o]};
        stepped_bias[o] -= double{client_lr} * double{dy[pixel * size.out + o]};
      }
      for (size_t tap = 0; tap < 25; ++tap) meet(pixel, tap);
    }
  }

  void meet(size_t pixel, size_t tap) {
    const size_t image = size.height * size.width;
    const size_t row = pixel % image / size.width + tap / 5 - 2, column = pixel % size.width + tap % 5 - 2;
    if (row >= size.height || column >= size.width) return;
    const size_t from = pixel / image * image + row * size.width + column;
    for (size_t o = 0; o < size.out; ++o) {
      const double slope = dy[pixel * size.out + o];
      for (size_t i = 0; i < size.in; ++i) {
        const size_t weight = (o * size.in + i) * 25 + tap;
        y[pixel * size.out + o] += double{x[from * size.in + i]} * double{w[weight]};
        dx[from * size.in + i] += slope * double{w[weight]};
        stepped_w[weight] -= double{client_lr} * slope * double{x[from * size.in + i]};
      }
    }
  }
};

// N,H,W,C into blocks of 16 channels, and back.
size_t in_blocks(size_t at, size_t pixels, size_t channels) {
  const size_t channel = at % channels, pixel = at / channels % pixels, image = at / channels / pixels;
  return image * pixels * channels + (channel / 16 * pixels + pixel) * 16 + channel % 16;
}
std::vector<float> to_blocks(const std::vector<float>& values, const ConvSize& size, size_t channels) {
  std::vector<float> blocks(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    blocks[in_blocks(i, size.height * size.width, channels)] = values[i];
  return blocks;
}
std::vector<float> from_blocks(const std::vector<float>& blocks, const ConvSize& size, size_t channels) {
  std::vector<float> values(blocks.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = blocks[in_blocks(i, size.height * size.width, channels)];
  return values;
}

TEST(Kernels, ConvolutionsAgreeWithTheirDefinition) {
  for (const ConvSize& size :
       {ConvSize{2, 16, 32, 6, 6}, {1, 32, 16, 5, 7}, {1, 16, 80, 1, 2}, {kConvGroup + 3, 16, 16, 4, 9}}) {
    PlainConv plain{size};
    plain.run();
    const std::vector<float> x = to_blocks(plain.x, size, size.in), dy = to_blocks(plain.dy, size, size.out);
    for (const Kernels* kernels : usable_kernels()) {
      const std::string what(kernels->name);
      std::vector<float> y(plain.y.size()), dx(plain.dx.size()), scratch(scratch_floats(size));
      for (const bool wants_dx : {true, false}) {
        std::vector<float> w = plain.w, bias = plain.bias;
        kernels->conv_forward({.size = size,
                               .x = x.data(),
                               .w = w.data(),
                               .bias = bias.data(),
                               .y = y.data(),
                               .scratch = scratch.data()});
        expect_near(from_blocks(y, size, size.out), plain.y, what + " forward", 1e-4);
        kernels->conv_backward({.size = size,
                                .dy = dy.data(),
                                .client_lr = plain.client_lr,
                                .w = w.data(),
                                .bias = bias.data(),
                                .dx = wants_dx ? dx.data() : nullptr,
                                .scratch = scratch.data()});
        expect_near(w, plain.stepped_w, what + " filters", 1e-4);
        expect_near(bias, plain.stepped_bias, what + " bias", 1e-5);
      }
      expect_near(from_blocks(dx, size, size.in), plain.dx, what + " input gradient", 1e-4);
    }
  }
}

TEST(Kernels, AForwardPassThatOnlyInfersIsTheSameInLessRoom) {
  const ConvSize size{2 * kConvGroup + 1, 16, 16, 5, 5};
  ConvSize lean = size;
  lean.training = false;
  EXPECT_LT(scratch_floats(lean), scratch_floats(size));
  const PlainConv plain{size};
  const std::vector<float> x = to_blocks(plain.x, size, size.in);
  for (const Kernels* kernels : usable_kernels()) {
    std::vector<std::vector<float>> made;
    for (const ConvSize& each : {size, lean}) {
      std::vector<float> y(plain.y.size()), scratch(scratch_floats(each));
      kernels->conv_forward({.size = each,
                             .x = x.data(),
                             .w = plain.w.data(),
                             .bias = plain.bias.data(),
                             .y = y.data(),
                             .scratch = scratch.data()});
      made.push_back(y);
    }
    EXPECT_EQ(made[0], made[1]) << kernels->name;
  }
}

TEST(Kernels, SgdTakesWhatIsLeftOverToo) {
  for (const Kernels* kernels : usable_kernels()) {
    for (size_t count = 0; count < 40; ++count) {
      std::vector<float> w(count + 1, 2);
      const std::vector<float> gradient(count, 4);
      kernels->sgd(std::span(w).first(count), gradient.data(), 0.25f);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(w[i], 1) << kernels->name;
      EXPECT_EQ(w.back(), 2) << kernels->name << " wrote beyond the end";
    }
  }
}

TEST(Kernels, ThePortableOnesAreAlwaysThereAndTheChosenAreUsable) {
  const std::vector<const Kernels*> usable = usable_kernels();
  EXPECT_EQ(usable.back()->name, "portable");
  EXPECT_NE(std::find(usable.begin(), usable.end(), &kernels()), usable.end());
}

}  // namespace
}  // namespace subfleet::cpu
