#include "subfleet/base/png.h"

#include <png.h>

#include <cstring>
#include <string>

#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

template <typename Image>
std::string encode_pixels(const Image& image, png_uint_32 format) {
  png_image header;
  std::memset(&header, 0, sizeof header);
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = format;

  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string encoded(size, '\0');
  if (png_image_write_to_memory(&header, encoded.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw failure("PNG", header.message);
  }
  encoded.resize(size);
  return encoded;
}

}  // namespace

std::string encode_png(const GreyImage& image) { return encode_pixels(image, PNG_FORMAT_GRAY); }

std::string encode_png(const ColourImage& image) {
  static_assert(sizeof(Colour) == 3);
  return encode_pixels(image, PNG_FORMAT_RGB);
}

void write_png(const std::filesystem::path& path, const GreyImage& image) {
  write_file(path, encode_png(image));
}

void write_png(const std::filesystem::path& path, const ColourImage& image) {
  write_file(path, encode_png(image));
}

}  // namespace subfleet
