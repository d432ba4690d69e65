#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace subfleet {

// A grey picture, row by row; 0 is black, 255 white.
struct GreyImage {
  size_t width = 0, height = 0;
  std::vector<uint8_t> pixels;
  GreyImage(size_t w, size_t h, uint8_t fill) : width(w), height(h), pixels(w * h, fill) {}
  uint8_t& at(size_t x, size_t y) { return pixels[y * width + x]; }
};

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

// A picture in colours, row by row.
struct ColourImage {
  size_t width = 0, height = 0;
  std::vector<Colour> pixels;
  ColourImage(size_t w, size_t h, Colour fill) : width(w), height(h), pixels(w * h, fill) {}
  Colour& at(size_t x, size_t y) { return pixels[y * width + x]; }
};

// The picture as a PNG file's content; throws Error.
std::string encode_png(const GreyImage& image);
std::string encode_png(const ColourImage& image);

// Writes a PNG (to a temporary name, then renamed); throws Error.
void write_png(const std::filesystem::path& path, const GreyImage& image);
void write_png(const std::filesystem::path& path, const ColourImage& image);

}  // namespace subfleet
