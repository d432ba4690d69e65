#pragma once

#include "nn/cuda/product.cuh"

// A convolution is a product over (channel, tap). The values that meet one tap lie at a fixed distance from
// those that meet another, so two tables pick an operand out of the images: one of pixels, one of taps. Bits
// tell which taps fall outside an image. A pixel has a bit for each row and each column of the kernel that
// lies inside; a tap has the bits that it needs.
namespace subfleet::cuda {

constexpr int kWidestKernel = 15;
constexpr uint32_t kNever = 1u << 15;  // a bit that no pixel has

struct Geometry {
  int channels, height, width;         // of the input
  int filters, out_height, out_width;  // of the output
  int kernel, stride, pad;
  __host__ __device__ int pixels() const { return height * width; }
  __host__ __device__ int out_pixels() const { return out_height * out_width; }
  __host__ __device__ int taps() const { return kernel * kernel; }
  __host__ __device__ int depth() const { return channels * taps(); }
};

// Where an output pixel's window begins in its image, and which rows and columns of it lie inside.
__host__ __device__ inline int2 window(const Geometry& g, int pixel) {
  const int y = pixel / g.out_width * g.stride - g.pad, x = pixel % g.out_width * g.stride - g.pad;
  uint32_t bits = 0;
  for (int k = 0; k < g.kernel; ++k) {
    bits |= (y + k >= 0 && y + k < g.height ? 1u : 0u) << k;
    bits |= (x + k >= 0 && x + k < g.width ? 1u : 0u) << (k + 16);
  }
  return make_int2(y * g.width + x, static_cast<int>(bits));
}

// The same backwards: the output pixels whose windows hold an input pixel. With a stride, only every
// stride-th tap meets one; a tap divided by the stride says how far back it lies.
__host__ __device__ inline int2 reach(const Geometry& g, int pixel) {
  const int y = pixel / g.width + g.pad, x = pixel % g.width + g.pad;
  uint32_t bits = 0;
  for (int k = 0; k < g.kernel; ++k) {
    const bool row = y >= k && (y - k) % g.stride == 0 && (y - k) / g.stride < g.out_height;
    const bool column = x >= k && (x - k) % g.stride == 0 && (x - k) / g.stride < g.out_width;
    bits |= (row ? 1u : 0u) << k;
    bits |= (column ? 1u : 0u) << (k + 16);
  }
  return make_int2(y / g.stride * g.out_width + x / g.stride, static_cast<int>(bits));
}

// Rows are the pixels of all images of a job; k is a (plane, tap), by table.
template <bool kBackwards>
struct Pixels {
  const float* values;
  const int2* taps;  // distance and bits
  Geometry g;
  int rows;  // pixels of all images

  template <int kRows>
  struct Loader {
    using Owner = AlongRows<kRows>;
    const float* at[Owner::kOwned];
    uint32_t bits[Owner::kOwned];
    const float* values;
    const int2* taps;

    __device__ Loader(const Pixels& p, int job, int first) : values(p.values), taps(p.taps) {
      const Geometry& g = p.g;
      const int per_image = kBackwards ? g.pixels() : g.out_pixels();
      const int image_size = kBackwards ? g.filters * g.out_pixels() : g.channels * g.pixels();
#pragma unroll
      for (int i = 0; i < Owner::kOwned; ++i) {
        const int row = first + Owner::row(i);
        const int image = row / per_image;
        const int2 place =
            kBackwards ? reach(g, row - image * per_image) : window(g, row - image * per_image);
        at[i] = p.values + (static_cast<int64_t>(job) * (p.rows / per_image) + image) * image_size + place.x;
        bits[i] = row < p.rows ? static_cast<uint32_t>(place.y) : 0;
      }
    }
    template <int kPitch>
    __device__ void load(float* tile, int k0, int) const {
#pragma unroll
      for (int k = 0; k < kDepth; k += Owner::kSteps) {
        const int kk = k + Owner::first_k();
        const int2 tap = __ldg(taps + k0 + kk);
        const auto needs = static_cast<uint32_t>(tap.y);
#pragma unroll
        for (int i = 0; i < Owner::kOwned; ++i) {
          const bool valid = (bits[i] & needs) == needs;
          copy_async(tile + kk * kPitch + Owner::row(i), valid ? at[i] + tap.x : values, valid);
        }
      }
    }
  };
};

// Value (row, k) at row * stride + offsets[k].
struct ByTable {
  const float* values;
  size_t job_stride;
  const int* offsets;
  int rows, stride;

  template <int kRows>
  struct Loader {
    using Owner = AlongK<kRows>;
    const float* at;
    const int* offsets;
    int rows, stride;
    __device__ Loader(const ByTable& t, int job, int first)
        : at(t.values + job * t.job_stride + static_cast<size_t>(first + Owner::first_row()) * t.stride),
          offsets(t.offsets),
          rows(t.rows - first - Owner::first_row()),
          stride(t.stride) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
      const bool in = k0 + Owner::k() < k_end;
      const int offset = in ? __ldg(offsets + k0 + Owner::k()) : 0;
      float* to = tile + Owner::k() * kPitch + Owner::first_row();
#pragma unroll
      for (int i = 0; i < kRows; i += Owner::kStep) {
        const bool valid = in && i < rows;
        copy_async(to + i, valid ? at + offset + static_cast<size_t>(i) * stride : at, valid);
      }
    }
  };
};

// For the gradient of the weights. Rows are (channel, tap), and a last row of ones for the bias; k is a pixel
// of any image of the job.
struct Taps {
  const float* values;
  size_t job_stride;
  const int2* taps;
  const int2* pixels;  // of all images: where the window begins, and bits
  const float* one;
  int rows;

  template <int kRows>
  struct Loader {
    using Owner = AlongK<kRows>;
    const float* values;
    const Taps& t;
    int first;
    __device__ Loader(const Taps& taps, int job, int first_)
        : values(taps.values + job * taps.job_stride), t(taps), first(first_ + Owner::first_row()) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
      const bool in = k0 + Owner::k() < k_end;
      const int2 pixel = in ? __ldg(t.pixels + k0 + Owner::k()) : make_int2(0, 0);
      float* to = tile + Owner::k() * kPitch + Owner::first_row();
#pragma unroll
      for (int i = 0; i < kRows; i += Owner::kStep) {
        const int row = first + i;
        const int2 tap = __ldg(t.taps + row);
        const auto needs = static_cast<uint32_t>(tap.y);
        const bool bias = in && row == t.rows - 1;
        const bool valid = in && (static_cast<uint32_t>(pixel.y) & needs) == needs;
        copy_async(to + i, valid ? values + pixel.x + tap.x : t.one, valid || bias);
      }
    }
  };
};

// y[image][filter][pixel] = value + bias, through ReLU if that is next.
struct StoreOutput {
  float* y;
  const float* bias;
  size_t bias_stride;
  int rows, pixels, filters;
  float scale;
  bool relu;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    float* out = y + static_cast<size_t>(job) * rows * filters;
    const float* add = bias + job * bias_stride;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= rows || n >= filters) return;
      const int image = m / pixels;
      value = scale * (value + add[n]);
      out[static_cast<size_t>(image * filters + n) * pixels + m - image * pixels] =
          relu && !(value > 0) ? 0 : value;
    });
  }
};

// dx[image][channel][pixel] = scale * value; 0 where x is 0, if x came out of a ReLU.
struct StoreGradient {
  float* dx;
  const float* x;  // null: no ReLU
  int rows, pixels, channels;
  float scale;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    const size_t begin = static_cast<size_t>(job) * rows * channels;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= rows || n >= channels) return;
      const int image = m / pixels;
      const size_t at = begin + static_cast<size_t>(image * channels + n) * pixels + m - image * pixels;
      dx[at] = x != nullptr && !(x[at] > 0) ? 0 : scale * value;
    });
  }
};

// One split's part of a gradient, to be added to the others' in their order.
struct StorePart {
  float* parts;  // [job][split][filter][depth + 1]
  int depth, filters, splits;

  template <typename Tile>
  __device__ void finish(int job, int split, int first_m, int first_n, const Tile& tile) const {
    float* out = parts + static_cast<size_t>(job * splits + split) * filters * (depth + 1);
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m <= depth && n < filters) out[static_cast<size_t>(n) * (depth + 1) + m] = value;
    });
  }
};

}  // namespace subfleet::cuda
