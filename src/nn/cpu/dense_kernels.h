#pragma once

// The dense layer, for any kind of vector unit. A batch is small, so each weight should be touched only once,
// with enough arithmetic to pay for it. One file per vector unit includes this, each compiled with its own
// flags. Hence everything has internal linkage, and nothing from the standard library may be called.

#include <array>
#include <utility>

#include "nn/cpu/kernels.h"

namespace subfleet::cpu {
namespace {

// Rows of X and of W that the forward pass takes together; their products fill the registers.
inline constexpr size_t kForwardBatch = 5;
inline constexpr size_t kForwardRows = 4;

inline constexpr size_t kBatchTile =
    10;  // rows of X that the backward pass takes together: the paper's batch
inline constexpr size_t kPrefetchRows = 12;  // of W, ahead of the backward pass

constexpr size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Calls work.template operator()<count>(first) for tiles of at most `Most` rows of the batch.
template <size_t Most, typename Work>
void for_batch_tiles(size_t batch, const Work& work) {
  for (size_t first = 0; first < batch; first += Most) {
    const size_t count = least(Most, batch - first);
    [&]<size_t... kLess>(std::index_sequence<kLess...>) {
      ((count == kLess + 1 ? work.template operator()<kLess + 1>(first) : void()), ...);
    }
    (std::make_index_sequence<Most>());
  }
}

// Sums X W^T over columns [from, in) of `Rows` rows of W and `Batch` rows of X into y, vector by vector.
template <typename V, size_t Batch, size_t Rows>
void dot_tile(const DenseSize& size, size_t from, size_t to, const float* x, const float* w, float* y) {
  V sums[Rows][Batch];
  for (auto& row : sums) {
    for (V& sum : row) sum = V::zero();
  }
  for (size_t i = from; i < to; i += V::kLanes) {
    V weight[Rows];
    for (size_t r = 0; r < Rows; ++r) {
      weight[r] = V::load(w + r * size.in + i);
      __builtin_prefetch(w + (r + Rows) * size.in + i, 0, 2);
    }
#pragma GCC unroll 10
    for (size_t n = 0; n < Batch; ++n) {
      const V input = V::load(x + n * size.in + i);
#pragma GCC unroll 4
      for (size_t r = 0; r < Rows; ++r) sums[r][n] = V::fma(input, weight[r], sums[r][n]);
    }
  }
  for (size_t r = 0; r < Rows; ++r) {
    for (size_t n = 0; n < Batch; ++n) y[n * size.out + r] += sums[r][n].sum();
  }
}

template <typename V, typename Lane, size_t Rows>
void forward_rows(const DenseSize& size, const float* x, const float* w, const float* bias, float* y) {
  const size_t whole = size.in / V::kLanes * V::kLanes;
  for_batch_tiles<kForwardBatch>(size.batch, [&]<size_t kBatch>(size_t first) {
    const float* inputs = x + first * size.in;
    float* outputs = y + first * size.out;
    for (size_t n = 0; n < kBatch; ++n) {
      for (size_t r = 0; r < Rows; ++r) outputs[n * size.out + r] = bias[r];
    }
    dot_tile<V, kBatch, Rows>(size, 0, whole, inputs, w, outputs);
    if (whole < size.in) dot_tile<Lane, kBatch, Rows>(size, whole, size.in, inputs, w, outputs);
  });
}

// What the backward pass does with the weights while it has them.
enum class Pass { kBoth, kGradient, kUpdate };

struct Stripe {
  size_t in = 0;              // columns of W, and the distance of its rows
  size_t rows = 0;            // of W
  const float* dy = nullptr;  // [row][Batch]
  const float* x = nullptr;   // [Batch][in]
  float* w = nullptr;
  float* dx = nullptr;  // [Batch][in]
  float minus_lr = 0;
};

// `Wide` vectors of columns, over all rows of the stripe.
template <typename V, size_t Batch, size_t Wide, Pass kPass>
void backward_stripe(const Stripe& s) {
  constexpr bool kDx = kPass != Pass::kUpdate, kStep = kPass != Pass::kGradient;
  V gradient[Batch][Wide], step[Batch][Wide];
  const V minus_lr = V::all(s.minus_lr);
  for (size_t n = 0; n < Batch; ++n) {
    for (size_t v = 0; v < Wide; ++v) {
      if constexpr (kDx) gradient[n][v] = V::zero();
      if constexpr (kStep) step[n][v] = V::mul(minus_lr, V::load(s.x + n * s.in + v * V::kLanes));
    }
  }
  const float* dy = s.dy;
  float* w = s.w;
  for (size_t row = 0; row < s.rows; ++row, dy += Batch, w += s.in) {
    V old[Wide], fresh[Wide];
    for (size_t v = 0; v < Wide; ++v) {
      __builtin_prefetch(w + kPrefetchRows * s.in + v * V::kLanes);
      fresh[v] = old[v] = V::load(w + v * V::kLanes);
    }
#pragma GCC unroll 10
    for (size_t n = 0; n < Batch; ++n) {
      const V slope = V::all(dy[n]);
#pragma GCC unroll 2
      for (size_t v = 0; v < Wide; ++v) {
        if constexpr (kDx) gradient[n][v] = V::fma(slope, old[v], gradient[n][v]);
        if constexpr (kStep) fresh[v] = V::fma(slope, step[n][v], fresh[v]);
      }
    }
    if constexpr (kStep) {
      for (size_t v = 0; v < Wide; ++v) fresh[v].store(w + v * V::kLanes);
    }
  }
  if constexpr (kDx) {
    for (size_t n = 0; n < Batch; ++n) {
      for (size_t v = 0; v < Wide; ++v) gradient[n][v].store(s.dx + n * s.in + v * V::kLanes);
    }
  }
}

template <typename V, typename Lane, size_t Batch, Pass kPass>
void backward_tile(const DenseBackward& job, size_t first) {
  constexpr size_t kWide = 2;
  const size_t in = job.size.in, out = job.size.out;
  float* dy = job.scratch;  // transposed, so that a row of W finds its slopes side by side
  for (size_t n = 0; n < Batch; ++n) {
    for (size_t o = 0; o < out; ++o) dy[o * Batch + n] = job.dy[(first + n) * out + o];
  }
  size_t i = 0;
  const auto stripe = [&] {
    return Stripe{.in = in,
                  .rows = out,
                  .dy = dy,
                  .x = job.x + first * in + i,
                  .w = job.w + i,
                  .dx = job.dx == nullptr ? nullptr : job.dx + first * in + i,
                  .minus_lr = -job.client_lr};
  };
  for (; i + kWide * V::kLanes <= in; i += kWide * V::kLanes)
    backward_stripe<V, Batch, kWide, kPass>(stripe());
  for (; i + V::kLanes <= in; i += V::kLanes) backward_stripe<V, Batch, 1, kPass>(stripe());
  for (; i < in; ++i) backward_stripe<Lane, Batch, 1, kPass>(stripe());
}

template <typename V, typename Lane>
struct Dense {
  static void forward(const DenseSize& size, const float* x, const float* w, const float* bias, float* y) {
    size_t o = 0;
    for (; o + kForwardRows <= size.out; o += kForwardRows) {
      forward_rows<V, Lane, kForwardRows>(size, x, w + o * size.in, bias + o, y + o);
    }
    for (; o < size.out; ++o) forward_rows<V, Lane, 1>(size, x, w + o * size.in, bias + o, y + o);
  }

  template <Pass kPass>
  static void pass(const DenseBackward& job) {
    for_batch_tiles<kBatchTile>(job.size.batch, [&]<size_t kBatch>(size_t first) {
      backward_tile<V, Lane, kBatch, kPass>(job, first);
    });
  }

  static void backward(const DenseBackward& job) {
    if (job.dx == nullptr) {
      pass<Pass::kUpdate>(job);
    } else if (job.size.batch <= kBatchTile) {
      pass<Pass::kBoth>(job);
    } else {  // every dX needs the weights from before the step
      pass<Pass::kGradient>(job);
      pass<Pass::kUpdate>(job);
    }
    for (size_t n = 0; n < job.size.batch; ++n)
      sgd({job.bias, job.size.out}, job.dy + n * job.size.out, job.client_lr);
  }

  static constexpr size_t kChains = 12;
  static constexpr size_t kOperations = kChains * V::kLanes * 2;
  static float multiply_add(size_t rounds, float seed) {
    V chains[kChains];
    for (size_t c = 0; c < kChains; ++c) chains[c] = V::all(seed + static_cast<float>(c));
    const V factor = V::all(0.5f), summand = V::all(1);
    for (size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (V& chain : chains) chain = V::fma(chain, factor, summand);
    }
    float sum = 0;
    for (const V& chain : chains) sum += chain.sum();
    return sum;
  }

  static void sgd(std::span<float> w, const float* gradient, float client_lr) {
    const V minus_lr = V::all(-client_lr);
    size_t i = 0;
    for (; i + V::kLanes <= w.size(); i += V::kLanes) {
      V::fma(minus_lr, V::load(gradient + i), V::load(w.data() + i)).store(w.data() + i);
    }
    for (; i < w.size(); ++i) {
      Lane::fma(Lane::all(-client_lr), Lane::load(gradient + i), Lane::load(w.data() + i))
          .store(w.data() + i);
    }
  }
};

}  // namespace
}  // namespace subfleet::cpu
