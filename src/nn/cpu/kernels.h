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
  float* dx = nullptr;       // null: no layer before this one learns
  float* scratch = nullptr;  // of scratch_floats(size)
};

// A 5x5 convolution of stride 1 that keeps height and width. Channels are multiples of 16; images are stored
// in blocks of 16 channels: [N][C / 16][H][W][16].
struct ConvSize {
  size_t batch = 0, in = 0, out = 0, height = 0, width = 0;
  bool training = true;  // forward leaves in `scratch` what backward needs
};

struct ConvForward {
  ConvSize size;
  const float* x = nullptr;
  const float* w = nullptr;  // [out, in, 5, 5]
  const float* bias = nullptr;
  float* y = nullptr;
  float* scratch = nullptr;  // of scratch_floats(size)
};

// Call it after the forward pass of the same batch, with the same scratch.
struct ConvBackward {
  ConvSize size;
  const float* dy = nullptr;
  float client_lr = 0;
  float* w = nullptr;
  float* bias = nullptr;
  float* dx = nullptr;  // null: no layer before this one learns
  float* scratch = nullptr;
};

constexpr size_t kConvGroup = 2;  // images whose tiles are multiplied together: they stay in the L2 cache

// What is written by hand, once for every kind of vector unit. Each kind gives the same bits for the same
// input on every thread; different kinds may round differently.
struct Kernels {
  std::string_view name;
  void (*dense_forward)(const DenseSize& size, const float* x, const float* w, const float* bias, float* y);
  // dX = dY W, then W -= lr dY^T X and b -= lr sum dY, in one pass over W.
  void (*dense_backward)(const DenseBackward& job);
  // The same for a convolution, by Winograd's method.
  void (*conv_forward)(const ConvForward& job);
  void (*conv_backward)(const ConvBackward& job);
  // w -= lr * gradient.
  void (*sgd)(std::span<float> w, const float* gradient, float client_lr);
  // Multiplies and adds in registers only, to measure the peak; `seed` must be at least 0.
  float (*multiply_add)(size_t rounds, float seed);
  size_t operations_per_round = 0;
};

size_t scratch_floats(const DenseSize& size);
size_t scratch_floats(const ConvSize& size);

// The best kernels for this CPU, or those that SUBFLEET_KERNELS names. Throws Error if this CPU cannot run
// those.
const Kernels& kernels();

// All kernels that this CPU can run, best first.
std::vector<const Kernels*> usable_kernels();

extern const Kernels kPortableKernels;

// The kernels for particular processors, best first; empty with no_x86/.
std::vector<const Kernels*> special_kernels();

}  // namespace subfleet::cpu
