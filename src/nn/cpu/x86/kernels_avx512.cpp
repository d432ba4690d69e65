#include <immintrin.h>

#include "nn/cpu/winograd_kernels.h"
#include "nn/cpu/x86/kernels_x86.h"
#include "nn/cpu/x86/one_lane.h"

namespace subfleet::cpu {
namespace {

struct Sixteen {
  static constexpr size_t kLanes = 16;
  __m512 r;

  static Sixteen zero() { return {_mm512_setzero_ps()}; }
  static Sixteen all(float value) { return {_mm512_set1_ps(value)}; }
  static Sixteen load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Sixteen mul(Sixteen a, Sixteen b) { return {_mm512_mul_ps(a.r, b.r)}; }
  static Sixteen fma(Sixteen a, Sixteen b, Sixteen c) { return {_mm512_fmadd_ps(a.r, b.r, c.r)}; }
  void store(float* to) const { _mm512_storeu_ps(to, r); }
  float sum() const {
    const __m256 eight = _mm256_add_ps(__builtin_shufflevector(r, r, 0, 1, 2, 3, 4, 5, 6, 7),
                                       __builtin_shufflevector(r, r, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
};

}  // namespace

const Kernels kAvx512Kernels{.name = "avx512",
                             .dense_forward = Dense<Sixteen, OneLane>::forward,
                             .dense_backward = Dense<Sixteen, OneLane>::backward,
                             .conv_forward = Winograd<Sixteen>::forward,
                             .conv_backward = Winograd<Sixteen>::backward,
                             .sgd = Dense<Sixteen, OneLane>::sgd,
                             .multiply_add = Dense<Sixteen, OneLane>::multiply_add,
                             .operations_per_round = Dense<Sixteen, OneLane>::kOperations};

}  // namespace subfleet::cpu
