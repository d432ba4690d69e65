#pragma once

// 5x5 convolutions as Winograd's F(4x4, 5x5): a tile of 8x8 inputs makes 4x4 outputs with 64 multiplications
// instead of 400. The points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity, as in Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks" (2016). Backward is the transpose of every step. Images are
// in blocks of 16 channels, and a vector holds channels. Internal linkage only, as in dense_kernels.h.

#include "nn/cpu/dense_kernels.h"

namespace subfleet::cpu {
namespace {

inline constexpr size_t kTile = 8, kPoints = kTile * kTile, kTaps = 5, kMade = 4, kPad = 2;
inline constexpr size_t kProductRows = 6;  // of the left matrix, times a few vectors, fill the registers

template <typename V>
V operator+(V a, V b) {
  return {a.r + b.r};
}
template <typename V>
V operator-(V a, V b) {
  return {a.r - b.r};
}
template <typename V>
V operator*(float c, V a) {
  return V::mul(V::all(c), a);
}
// c * a + b
template <typename V>
V add(float c, V a, V b) {
  return V::fma(V::all(c), a, b);
}

// What one step does to a line of the tile, and how many values it takes and makes. Points come in pairs of
// opposite sign: they share what is even and what is odd in the line.
struct InputStep {  // B^T
  static constexpr size_t kFrom = 8, kTo = 8;
  template <typename V>
  static void apply(const V (&d)[8], V (&o)[8]) {
    const V even1 = add(-4.25f, d[4], d[2] + d[6]), odd1 = add(-4.25f, d[3], d[1] + d[5]);
    const V even2 = add(0.25f, d[2], add(-1.25f, d[4], d[6]));
    const V odd2 = add(0.5f, d[1], add(-2.5f, d[3], 2.0f * d[5]));
    const V even3 = add(4.0f, d[2], add(-5.0f, d[4], d[6]));
    const V odd3 = add(0.5f, d[5], add(-2.5f, d[3], 2.0f * d[1]));
    o[0] = add(5.25f, d[4] - d[2], d[0] - d[6]);
    o[1] = even1 + odd1;
    o[2] = even1 - odd1;
    o[3] = even2 + odd2;
    o[4] = even2 - odd2;
    o[5] = even3 + odd3;
    o[6] = even3 - odd3;
    o[7] = add(5.25f, d[3] - d[5], d[7] - d[1]);
  }
};
struct InputBack {  // B
  static constexpr size_t kFrom = 8, kTo = 8;
  template <typename V>
  static void apply(const V (&g)[8], V (&o)[8]) {
    const V even1 = g[1] + g[2], odd1 = g[1] - g[2];
    const V even2 = g[3] + g[4], odd2 = g[3] - g[4];
    const V even3 = g[5] + g[6], odd3 = g[5] - g[6];
    o[0] = g[0];
    o[1] = add(0.5f, odd2, add(2.0f, odd3, odd1 - g[7]));
    o[2] = add(-5.25f, g[0], add(0.25f, even2, add(4.0f, even3, even1)));
    o[3] = add(5.25f, g[7], add(-2.5f, odd2 + odd3, -4.25f * odd1));
    o[4] = add(5.25f, g[0], add(-1.25f, even2, add(-5.0f, even3, -4.25f * even1)));
    o[5] = add(-5.25f, g[7], add(2.0f, odd2, add(0.5f, odd3, odd1)));
    o[6] = (even1 - g[0]) + (even2 + even3);
    o[7] = g[7];
  }
};
struct OutputStep {  // A^T
  static constexpr size_t kFrom = 8, kTo = 4;
  template <typename V>
  static void apply(const V (&m)[8], V (&o)[4]) {
    const V even1 = m[1] + m[2], odd1 = m[1] - m[2];
    const V even2 = m[3] + m[4], odd2 = m[3] - m[4];
    const V even3 = m[5] + m[6], odd3 = m[5] - m[6];
    o[0] = (m[0] + even1) + (even2 + even3);
    o[1] = add(2.0f, odd2, add(0.5f, odd3, odd1));
    o[2] = add(4.0f, even2, add(0.25f, even3, even1));
    o[3] = add(8.0f, odd2, add(0.125f, odd3, odd1 + m[7]));
  }
};
struct OutputBack {  // A
  static constexpr size_t kFrom = 4, kTo = 8;
  template <typename V>
  static void apply(const V (&y)[4], V (&o)[8]) {
    const V even1 = y[0] + y[2], odd1 = y[1] + y[3];
    const V even2 = add(4.0f, y[2], y[0]), odd2 = add(8.0f, y[3], 2.0f * y[1]);
    const V even3 = add(0.25f, y[2], y[0]), odd3 = add(0.125f, y[3], 0.5f * y[1]);
    o[0] = y[0];
    o[1] = even1 + odd1;
    o[2] = even1 - odd1;
    o[3] = even2 + odd2;
    o[4] = even2 - odd2;
    o[5] = even3 + odd3;
    o[6] = even3 - odd3;
    o[7] = y[3];
  }
};
struct FilterStep {  // G
  static constexpr size_t kFrom = 5, kTo = 8;
  template <typename V>
  static void apply(const V (&w)[5], V (&o)[8]) {
    const V even1 = (w[0] + w[2]) + w[4], odd1 = w[1] + w[3];
    const V even2 = add(4.0f, w[2], add(16.0f, w[4], w[0])), odd2 = add(8.0f, w[3], 2.0f * w[1]);
    const V even3 = add(32.0f, w[0], add(8.0f, w[2], 2.0f * w[4])), odd3 = add(16.0f, w[1], 4.0f * w[3]);
    o[0] = w[0];
    o[1] = (-2.0f / 9) * (even1 + odd1);
    o[2] = (-2.0f / 9) * (even1 - odd1);
    o[3] = (1.0f / 90) * (even2 + odd2);
    o[4] = (1.0f / 90) * (even2 - odd2);
    o[5] = (1.0f / 45) * (even3 + odd3);
    o[6] = (1.0f / 45) * (even3 - odd3);
    o[7] = w[4];
  }
};
struct FilterBack {  // G^T
  static constexpr size_t kFrom = 8, kTo = 5;
  template <typename V>
  static void apply(const V (&g)[8], V (&o)[5]) {
    const V even1 = (-2.0f / 9) * (g[1] + g[2]), odd1 = (-2.0f / 9) * (g[1] - g[2]);
    const V even2 = (1.0f / 90) * (g[3] + g[4]), odd2 = (1.0f / 90) * (g[3] - g[4]);
    const V even3 = (1.0f / 45) * (g[5] + g[6]), odd3 = (1.0f / 45) * (g[5] - g[6]);
    o[0] = add(32.0f, even3, (g[0] + even1) + even2);
    o[1] = add(2.0f, odd2, add(16.0f, odd3, odd1));
    o[2] = add(4.0f, even2, add(8.0f, even3, even1));
    o[3] = add(8.0f, odd2, add(4.0f, odd3, odd1));
    o[4] = add(16.0f, even2, add(2.0f, even3, even1 + g[7]));
  }
};

// The step along both directions of a square, from load(row, column) to store(row, column, value).
template <typename Step, typename V, typename Load, typename Store>
void apply_twice(const Load& load, const Store& store) {
  V half[Step::kTo][Step::kFrom];
  for (size_t column = 0; column < Step::kFrom; ++column) {
    V line[Step::kFrom], made[Step::kTo];
#pragma GCC unroll 8
    for (size_t row = 0; row < Step::kFrom; ++row) line[row] = load(row, column);
    Step::apply(line, made);
#pragma GCC unroll 8
    for (size_t row = 0; row < Step::kTo; ++row) half[row][column] = made[row];
  }
  for (size_t row = 0; row < Step::kTo; ++row) {
    V made[Step::kTo];
    Step::apply(half[row], made);
#pragma GCC unroll 8
    for (size_t column = 0; column < Step::kTo; ++column) store(row, column, made[column]);
  }
}

// C = A B, or C += A B, with B and C row by row and A's element (m, k) at a[m * step_m + k * step_k].
struct SmallProduct {
  size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  size_t step_m = 0, step_k = 0;
  const float* b = nullptr;
  float* c = nullptr;
  bool adds = false;
};

template <typename V, size_t Rows, size_t Wide>
void product_tile(const SmallProduct& p, const float* a, size_t column, float* c) {
  V sums[Rows][Wide];
#pragma GCC unroll 6
  for (size_t m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) {
      sums[m][v] = p.adds ? V::load(c + m * p.n + column + v * V::kLanes) : V::zero();
    }
  }
  const float* b = p.b + column;
  for (size_t k = 0; k < p.k; ++k, b += p.n, a += p.step_k) {
    V right[Wide];
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) right[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 6
    for (size_t m = 0; m < Rows; ++m) {
      const V left = V::all(a[m * p.step_m]);
#pragma GCC unroll 4
      for (size_t v = 0; v < Wide; ++v) sums[m][v] = V::fma(left, right[v], sums[m][v]);
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) sums[m][v].store(c + m * p.n + column + v * V::kLanes);
  }
}

template <typename V>
void small_product(const SmallProduct& p) {
  constexpr size_t kWide = V::kLanes == 16 ? 4 : 2;
  for_batch_tiles<kProductRows>(p.m, [&]<size_t kRows>(size_t first) {
    const float* a = p.a + first * p.step_m;
    float* c = p.c + first * p.n;
    size_t column = 0;
    for (; column + kWide * V::kLanes <= p.n; column += kWide * V::kLanes)
      product_tile<V, kRows, kWide>(p, a, column, c);
    for (; column + 2 * V::kLanes <= p.n; column += 2 * V::kLanes) product_tile<V, kRows, 2>(p, a, column, c);
    for (; column < p.n; column += V::kLanes) product_tile<V, kRows, 1>(p, a, column, c);
  });
}

// Where a convolution keeps what at the points: per point a matrix, and a line of the cache between the
// matrices, which would otherwise fall upon each other there.
template <typename V>
class Winograd {
 public:
  static void forward(const ConvForward& job) {
    const Winograd at(job.size, job.scratch);
    const ConvSize& size = job.size;
    at.transform_filters(job.w);
    for (size_t first = 0, group = 0; first < size.batch; first += kConvGroup, ++group) {
      const size_t images = least(kConvGroup, size.batch - first);
      float* inputs = at.inputs(size.training ? group : 0);
      at.transform_input(job.x + first * at.pixels_ * size.in, images, inputs);
      for (size_t point = 0; point < kPoints; ++point) {
        small_product<V>({.m = images * at.tiles_,
                          .n = size.out,
                          .k = size.in,
                          .a = inputs + point * at.input_step_,
                          .step_m = size.in,
                          .step_k = 1,
                          .b = at.filters_ + point * at.filter_step_,
                          .c = at.outputs_ + point * at.output_step_});
      }
      at.make_output(job.bias, images, job.y + first * at.pixels_ * size.out);
    }
  }

  static void backward(const ConvBackward& job) {
    const Winograd at(job.size, job.scratch);
    const ConvSize& size = job.size;
    at.turn_filters();
    for (size_t first = 0, group = 0; first < size.batch; first += kConvGroup, ++group) {
      const size_t images = least(kConvGroup, size.batch - first), tiles = images * at.tiles_;
      float* inputs = at.inputs(group);
      at.transform_gradient(job.dy + first * at.pixels_ * size.out, images);
      for (size_t point = 0; point < kPoints; ++point) {
        small_product<V>({.m = size.in,
                          .n = size.out,
                          .k = tiles,
                          .a = inputs + point * at.input_step_,
                          .step_m = 1,
                          .step_k = size.in,
                          .b = at.outputs_ + point * at.output_step_,
                          .c = at.gradient_ + point * at.filter_step_,
                          .adds = first > 0});
        if (job.dx == nullptr) continue;
        small_product<V>({.m = tiles,
                          .n = size.in,
                          .k = size.out,
                          .a = at.outputs_ + point * at.output_step_,
                          .step_m = size.out,
                          .step_k = 1,
                          .b = at.turned_ + point * at.filter_step_,
                          .c = inputs + point * at.input_step_});
      }
      if (job.dx != nullptr) at.make_input_gradient(inputs, images, job.dx + first * at.pixels_ * size.in);
    }
    at.step_filters(job.w, job.client_lr);
    at.step_bias(job);
  }

 private:
  Winograd(const ConvSize& size, float* scratch)
      : size_(size),
        down_((size.height + kMade - 1) / kMade),
        across_((size.width + kMade - 1) / kMade),
        tiles_(down_ * across_),
        pixels_(size.height * size.width),
        input_frame_{kPad, down_ * kMade + kTaps - 1, across_ * kMade + kTaps - 1},
        output_frame_{0, down_ * kMade, across_ * kMade},
        filter_step_(size.in * size.out + kLine),
        input_step_(least(kConvGroup, size.batch) * tiles_ * size.in + kLine),
        output_step_(least(kConvGroup, size.batch) * tiles_ * size.out + kLine),
        filters_(scratch),
        turned_(filters_ + kPoints * filter_step_),
        gradient_(turned_ + kPoints * filter_step_),
        framed_(gradient_ + kPoints * filter_step_),
        outputs_(framed_ + floats(input_frame_)),
        inputs_(outputs_ + kPoints * output_step_) {}

  float* inputs(size_t group) const { return inputs_ + group * kPoints * input_step_; }

  // Calls visit(in, out, filter) for vectors of out, with room to take the filters apart.
  template <typename Visit>
  void for_filters(const Visit& visit) const {
    alignas(64) float lanes[kTaps * kTaps][V::kLanes];
    for (size_t o = 0; o < size_.out; o += V::kLanes) {
      for (size_t i = 0; i < size_.in; ++i) visit(i, o, lanes);
    }
  }

  // [out][in][5][5] into [point][in][out].
  void transform_filters(const float* w) const {
    for_filters([&](size_t i, size_t o, auto& lanes) {
      for (size_t lane = 0; lane < V::kLanes; ++lane) {
        const float* filter = w + ((o + lane) * size_.in + i) * kTaps * kTaps;
        for (size_t tap = 0; tap < kTaps * kTaps; ++tap) lanes[tap][lane] = filter[tap];
      }
      float* to = filters_ + i * size_.out + o;
      apply_twice<FilterStep, V>(
          [&](size_t row, size_t column) { return V::load(lanes[row * kTaps + column]); },
          [&](size_t row, size_t column, V value) {
            value.store(to + (row * kTile + column) * filter_step_);
          });
    });
  }

  // [point][in][out] into [point][out][in].
  void turn_filters() const {
    for (size_t point = 0; point < kPoints; ++point) {
      const float* from = filters_ + point * filter_step_;
      float* to = turned_ + point * filter_step_;
      for (size_t o = 0; o < size_.out; ++o) {
        for (size_t i = 0; i < size_.in; ++i) to[o * size_.in + i] = from[i * size_.out + o];
      }
    }
  }

  void step_filters(float* w, float client_lr) const {
    const V minus_lr = V::all(-client_lr);
    for_filters([&](size_t i, size_t o, auto& lanes) {
      const float* from = gradient_ + i * size_.out + o;
      apply_twice<FilterBack, V>(
          [&](size_t row, size_t column) { return V::load(from + (row * kTile + column) * filter_step_); },
          [&](size_t row, size_t column, V value) {
            V::mul(minus_lr, value).store(lanes[row * kTaps + column]);
          });
      for (size_t lane = 0; lane < V::kLanes; ++lane) {
        float* filter = w + ((o + lane) * size_.in + i) * kTaps * kTaps;
        for (size_t tap = 0; tap < kTaps * kTaps; ++tap) filter[tap] += lanes[tap][lane];
      }
    });
  }

  void step_bias(const ConvBackward& job) const {
    for (size_t o = 0; o < size_.out; o += V::kLanes) {
      V sum = V::zero();
      for (size_t n = 0; n < size_.batch; ++n) {
        const float* dy = job.dy + (n * size_.out + o / kLine * kLine) * pixels_ + o % kLine;
        for (size_t pixel = 0; pixel < pixels_; ++pixel) sum = sum + V::load(dy + pixel * kLine);
      }
      add(-job.client_lr, sum, V::load(job.bias + o)).store(job.bias + o);
    }
  }

  // A block of channels of one image with room around it, so that every tile lies within.
  struct Frame {
    size_t before, height, width;
  };
  static size_t floats(const Frame& frame) { return frame.height * frame.width * kLine; }

  // Calls visit(row in the frame, row of the image's block).
  template <typename Image, typename Visit>
  void for_rows(const Frame& frame, Image* block, const Visit& visit) const {
    for (size_t row = 0; row < size_.height; ++row) {
      visit(framed_ + ((row + frame.before) * frame.width + frame.before) * kLine,
            block + row * size_.width * kLine);
    }
  }
  void clear(const Frame& frame) const {
    for (size_t i = 0; i < floats(frame); i += V::kLanes) V::zero().store(framed_ + i);
  }
  void enter(const Frame& frame, const float* block) const {
    clear(frame);
    for_rows(frame, block, [&](float* to, const float* from) { copy_row(from, to); });
  }
  void leave(const Frame& frame, float* block) const {
    for_rows(frame, block, [&](const float* from, float* to) { copy_row(from, to); });
  }
  void copy_row(const float* from, float* to) const {
    for (size_t i = 0; i < size_.width * kLine; i += V::kLanes) V::load(from + i).store(to + i);
  }

  // Calls visit(image, first channel, where in the images) for every block of channels.
  template <typename Visit>
  void for_blocks(size_t images, size_t channels, const Visit& visit) const {
    for (size_t image = 0; image < images; ++image) {
      for (size_t channel = 0; channel < channels; channel += kLine)
        visit(image, channel, (image * channels + channel) * pixels_);
    }
  }

  // Calls visit(tile, lane, its corner in the frame) for every tile of an image and vector of the block.
  template <typename Visit>
  void for_tiles(const Frame& frame, const Visit& visit) const {
    for (size_t lane = 0; lane < kLine; lane += V::kLanes) {
      for (size_t tile = 0; tile < tiles_; ++tile) {
        const size_t top = tile / across_ * kMade, left = tile % across_ * kMade;
        visit(tile, lane, framed_ + (top * frame.width + left) * kLine + lane);
      }
    }
  }

  void transform_input(const float* x, size_t images, float* inputs) const {
    const size_t width = input_frame_.width;
    for_blocks(images, size_.in, [&](size_t image, size_t channel, size_t block) {
      enter(input_frame_, x + block);
      for_tiles(input_frame_, [&](size_t tile, size_t lane, const float* corner) {
        float* to = inputs + (image * tiles_ + tile) * size_.in + channel + lane;
        apply_twice<InputStep, V>(
            [&](size_t row, size_t column) { return V::load(corner + (row * width + column) * kLine); },
            [&](size_t row, size_t column, V value) {
              value.store(to + (row * kTile + column) * input_step_);
            });
      });
    });
  }

  // The tiles overlap, so their gradients are added.
  void make_input_gradient(const float* inputs, size_t images, float* dx) const {
    const size_t width = input_frame_.width;
    for_blocks(images, size_.in, [&](size_t image, size_t channel, size_t block) {
      clear(input_frame_);
      for_tiles(input_frame_, [&](size_t tile, size_t lane, float* corner) {
        const float* from = inputs + (image * tiles_ + tile) * size_.in + channel + lane;
        apply_twice<InputBack, V>(
            [&](size_t row, size_t column) { return V::load(from + (row * kTile + column) * input_step_); },
            [&](size_t row, size_t column, V value) {
              float* pixel = corner + (row * width + column) * kLine;
              (V::load(pixel) + value).store(pixel);
            });
      });
      leave(input_frame_, dx + block);
    });
  }

  void make_output(const float* bias, size_t images, float* y) const {
    const size_t width = output_frame_.width;
    for_blocks(images, size_.out, [&](size_t image, size_t channel, size_t block) {
      for_tiles(output_frame_, [&](size_t tile, size_t lane, float* corner) {
        const float* from = outputs_ + (image * tiles_ + tile) * size_.out + channel + lane;
        const V shift = V::load(bias + channel + lane);
        apply_twice<OutputStep, V>(
            [&](size_t row, size_t column) { return V::load(from + (row * kTile + column) * output_step_); },
            [&](size_t row, size_t column, V value) {
              (value + shift).store(corner + (row * width + column) * kLine);
            });
      });
      leave(output_frame_, y + block);
    });
  }

  void transform_gradient(const float* dy, size_t images) const {
    const size_t width = output_frame_.width;
    for_blocks(images, size_.out, [&](size_t image, size_t channel, size_t block) {
      enter(output_frame_, dy + block);
      for_tiles(output_frame_, [&](size_t tile, size_t lane, const float* corner) {
        float* to = outputs_ + (image * tiles_ + tile) * size_.out + channel + lane;
        apply_twice<OutputBack, V>(
            [&](size_t row, size_t column) { return V::load(corner + (row * width + column) * kLine); },
            [&](size_t row, size_t column, V value) {
              value.store(to + (row * kTile + column) * output_step_);
            });
      });
    });
  }

  static constexpr size_t kLine = 16;  // floats: a line of the cache, and a block of channels

  const ConvSize& size_;
  size_t down_, across_, tiles_, pixels_;
  Frame input_frame_, output_frame_;
  size_t filter_step_, input_step_, output_step_;  // from a point to the next
  float *filters_, *turned_, *gradient_;           // all filters, [in][out] or [out][in]
  float* framed_;                                  // one block of channels, in either frame
  float* outputs_;                                 // a group's tiles, [tile][out]; or their gradients
  float* inputs_;                                  // every group's tiles, [tile][in]; then their gradients
};

}  // namespace
}  // namespace subfleet::cpu
