#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace subfleet::cpu {

// A dense layer: Y = X W^T + b with X [batch, in], W [out, in], Y [batch, out].
struct DenseSize {
  size_t batch = 0, in = 0, out = 0;
};

struct DenseBackward {
  DenseSize size;
  const float* x = nullptr;
  const float* dy = nullptr;
  float client_lr = 0;
  float* w = nullptr;
  float* bias = nullptr;
  float* dx = nullptr;       // none: nothing before the layer learns
  float* scratch = nullptr;  // of scratch_floats(size)
};

// A 5x5 convolution of stride 1 that keeps height and width. Channels are multiples of 16, and images lie in
// blocks of 16 of them: [N][C / 16][H][W][16].
struct ConvSize {
  size_t batch = 0, in = 0, out = 0, height = 0, width = 0;
  bool training = true;  // forward leaves in the scratch what backward wants
};

struct ConvForward {
  ConvSize size;
  const float* x = nullptr;
  const float* w = nullptr;  // [out, in, 5, 5]
  const float* bias = nullptr;
  float* y = nullptr;
  float* scratch = nullptr;  // of scratch_floats(size)
};

// Follows the forward pass of the same batch, with the same scratch.
struct ConvBackward {
  ConvSize size;
  const float* dy = nullptr;
  float client_lr = 0;
  float* w = nullptr;
  float* bias = nullptr;
  float* dx = nullptr;  // none: nothing before the layer learns
  float* scratch = nullptr;
};

constexpr size_t kConvGroup = 2;  // images whose tiles are multiplied together: they stay in the L2 cache

// What is written by hand, once for every kind of vector unit. Each gives the same bits for the same input on
// every thread; different ones may round differently.
struct Kernels {
  std::string_view name;
  void (*dense_forward)(const DenseSize& size, const float* x, const float* w, const float* bias, float* y);
  // dX = dY W, then W -= lr dY^T X and b -= lr sum dY, in one pass over W.
  void (*dense_backward)(const DenseBackward& job);
  // The same for a convolution, in Winograd's way.
  void (*conv_forward)(const ConvForward& job);
  void (*conv_backward)(const ConvBackward& job);
  // w -= lr * gradient.
  void (*sgd)(std::span<float> w, const float* gradient, float client_lr);
  // Multiplications and additions on registers alone, to measure the peak; a value from 0 on.
  float (*multiply_add)(size_t rounds, float seed);
  size_t operations_per_round = 0;
};

size_t scratch_floats(const DenseSize& size);
size_t scratch_floats(const ConvSize& size);

// The best for this CPU; SUBFLEET_KERNELS names another. Throws Error where it names none that this CPU can
// run.
const Kernels& kernels();

// All that this CPU can run, the best first.
std::vector<const Kernels*> usable_kernels();

extern const Kernels kPortableKernels;

// Those of one kind of processor, the best first; no_x86/ has none.
std::vector<const Kernels*> special_kernels();

}  // namespace subfleet::cpu
