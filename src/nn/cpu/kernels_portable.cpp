#include "nn/cpu/winograd_kernels.h"

namespace subfleet::cpu {
namespace {

// Four lanes in the compiler's own vectors: every compiler target has something for them.
struct Four {
  using Register = float __attribute__((vector_size(16)));
  static constexpr size_t kLanes = 4;
  Register r;

  static Four zero() { return all(0); }
  static Four all(float value) { return {Register{value, value, value, value}}; }
  static Four load(const float* from) {
    Four v;
    __builtin_memcpy(&v.r, from, sizeof v.r);
    return v;
  }
  static Four mul(Four a, Four b) { return {a.r * b.r}; }
  static Four fma(Four a, Four b, Four c) { return {a.r * b.r + c.r}; }
  void store(float* to) const { __builtin_memcpy(to, &r, sizeof r); }
  float sum() const { return (r[0] + r[1]) + (r[2] + r[3]); }
};

struct One {
  static constexpr size_t kLanes = 1;
  float r;

  static One zero() { return {0}; }
  static One all(float value) { return {value}; }
  static One load(const float* from) { return {*from}; }
  static One mul(One a, One b) { return {a.r * b.r}; }
  static One fma(One a, One b, One c) { return {a.r * b.r + c.r}; }
  void store(float* to) const { *to = r; }
  float sum() const { return r; }
};

}  // namespace

const Kernels kPortableKernels{.name = "portable",
                               .dense_forward = Dense<Four, One>::forward,
                               .dense_backward = Dense<Four, One>::backward,
                               .conv_forward = Winograd<Four>::forward,
                               .conv_backward = Winograd<Four>::backward,
                               .sgd = Dense<Four, One>::sgd,
                               .multiply_add = Dense<Four, One>::multiply_add,
                               .operations_per_round = Dense<Four, One>::kOperations};

}  // namespace subfleet::cpu
