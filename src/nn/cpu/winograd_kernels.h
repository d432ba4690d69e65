#pragma once

// 5x5 convolutions as Winograd's F(4x4, 5x5): a tile of 8x8 inputs makes 4x4 outputs with 64 multiplications
// instead of 400. Backward, every step is transposed. Images are in blocks of 16 channels, and a vector holds
// channels. Internal linkage only, as in dense_kernels.h.

#include "nn/cpu/small_product.h"
#include "nn/cpu/winograd_steps.h"

namespace subfleet::cpu {
namespace {

inline constexpr size_t kTile = 8, kPoints = kTile * kTile, kTaps = 5, kMade = 4, kPad = 2;

// A convolution, for any kind of vector unit. Every point has a matrix each of filters, inputs and outputs. A
// cache line of padding follows each matrix; otherwise the same place of all points would fall on the same
// few cache lines.
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

  // A block of channels of one image with a border around it, so that every tile lies inside.
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

  // The values at the points of every tile, [point][tile][channel].
  template <typename Step>
  void to_points(const Frame& frame, const float* images_from, size_t images, size_t channels, float* points,
                 size_t step) const {
    for_blocks(images, channels, [&](size_t image, size_t channel, size_t block) {
      enter(frame, images_from + block);
      for_tiles(frame, [&](size_t tile, size_t lane, const float* corner) {
        float* to = points + (image * tiles_ + tile) * channels + channel + lane;
        apply_twice<Step, V>(
            [&](size_t row, size_t column) { return V::load(corner + (row * frame.width + column) * kLine); },
            [&](size_t row, size_t column, V value) { value.store(to + (row * kTile + column) * step); });
      });
    });
  }
  void transform_input(const float* x, size_t images, float* inputs) const {
    to_points<InputStep>(input_frame_, x, images, size_.in, inputs, input_step_);
  }
  void transform_gradient(const float* dy, size_t images) const {
    to_points<OutputBack>(output_frame_, dy, images, size_.out, outputs_, output_step_);
  }

  // Tiles overlap, so their gradients are added.
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
