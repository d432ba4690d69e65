#include <immintrin.h>

#include "nn/cpu/winograd_kernels.h"
#include "nn/cpu/x86/kernels_x86.h"
#include "nn/cpu/x86/one_lane.h"

namespace subfleet::cpu {
namespace {

struct Eight {
  static constexpr size_t kLanes = 8;
  __m256 r;

  static Eight zero() { return {_mm256_setzero_ps()}; }
  static Eight all(float value) { return {_mm256_set1_ps(value)}; }
  static Eight load(const float* from) { return {_mm256_loadu_ps(from)}; }
  static Eight mul(Eight a, Eight b) { return {_mm256_mul_ps(a.r, b.r)}; }
  static Eight fma(Eight a, Eight b, Eight c) { return {_mm256_fmadd_ps(a.r, b.r, c.r)}; }
  void store(float* to) const { _mm256_storeu_ps(to, r); }
  float sum() const {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(r), _mm256_extractf128_ps(r, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
};

}  // namespace

const Kernels kAvx2Kernels{.name = "avx2",
                           .dense_forward = Dense<Eight, OneLane>::forward,
                           .dense_backward = Dense<Eight, OneLane>::backward,
                           .conv_forward = Winograd<Eight>::forward,
                           .conv_backward = Winograd<Eight>::backward,
                           .sgd = Dense<Eight, OneLane>::sgd,
                           .multiply_add = Dense<Eight, OneLane>::multiply_add,
                           .operations_per_round = Dense<Eight, OneLane>::kOperations};

}  // namespace subfleet::cpu
