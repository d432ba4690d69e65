#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/client_table.h"
#include "data/find_files.h"
#include "data/hdf5/hdf5_file.h"
#include "data/sources.h"
#include "data/unpacked_stream.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSide = 28;
constexpr uint64_t kPicture = kSide * kSide;
constexpr uint64_t kBatch = uint64_t{1} << 14;  // pictures that are read at once

// A file of TensorFlow Federated's EMNIST62: /examples/WRITER/pixels, n x 28 x 28 floating-point numbers from
// 0 to 1, and /examples/WRITER/label, n whole numbers.
class EmnistFile {
 public:
  explicit EmnistFile(const fs::path& path)
      : path_(path), file_(path), room_(UnpackedStream::most_unpacked(fs::file_size(path))) {}

  using Writer = std::function<void(const std::string& name, ClientExamples examples)>;
  void read(const Writer& writer) {
    for (const std::string& name : file_.members("/examples")) writer(name, examples_of(name));
  }

 private:
  ClientExamples examples_of(const std::string& writer) {
    const std::string pixels = "/examples/" + writer + "/pixels", labels = "/examples/" + writer + "/label";
    const std::vector<uint64_t> size = file_.sizes(pixels, H5T_FLOAT);
    if (size.size() != 3 || size[1] != kSide || size[2] != kSide) {
      throw complaint(writer, fmt::format("has pixels of [{}]; expected [N, 28, 28]", fmt::join(size, ", ")));
    }
    const std::vector<uint64_t> label_size = file_.sizes(labels, H5T_INTEGER);
    if (label_size.size() != 1 || label_size[0] != size[0]) {
      throw complaint(writer, fmt::format("has labels of [{}]; expected [{}], one per picture",
                                          fmt::join(label_size, ", "), size[0]));
    }
    take_room(writer, size[0]);
    ClientExamples examples;
    examples.values.reserve(size[0] * kPicture);
    for (uint64_t first = 0; first < size[0]; first += kBatch) {
      for (const float pixel : file_.floats(pixels, size, {first, std::min(kBatch, size[0] - first)})) {
        if (!is_pixel(pixel))
          throw complaint(writer, fmt::format("has a pixel of {}; pixels are from 0 to 1", pixel));
        examples.values.push_back(pixel_code(pixel));
      }
    }
    for (const int64_t label : file_.integers(labels, size[0])) {
      if (!is_character_label(static_cast<double>(label))) {
        throw complaint(writer, fmt::format("has the label {}; labels are from 0 to 61", label));
      }
      examples.labels.push_back(static_cast<uint8_t>(label));
    }
    return examples;
  }

  // A small file may not fill the memory, whatever it claims.
  void take_room(const std::string& writer, uint64_t pictures) {
    constexpr uint64_t kPictureBytes = kPicture * sizeof(float);
    if (pictures > room_ / kPictureBytes) {
      throw complaint(writer, fmt::format("claims {} pictures, too many for a file of {} bytes; store it "
                                          "unpacked (h5repack -f NONE) if they are there",
                                          pictures, fs::file_size(path_)));
    }
    room_ -= pictures * kPictureBytes;
  }

  Error complaint(const std::string& writer, const std::string& why) const {
    return bad_request(path_name(path_), fmt::format("{} {}", user_title(writer), why));
  }

  fs::path path_;
  Hdf5File file_;
  uint64_t room_;
};

}  // namespace

std::unique_ptr<Federation> open_hdf5(const DataOptions& options) {
  if (options.path.empty()) {
    throw bad_request("data.path",
                      "is not set; the hdf5 source needs the folder with *train.h5 and *test.h5");
  }
  std::error_code ignored;
  const bool one_file = fs::is_regular_file(options.path, ignored);
  const fs::path train = one_file ? options.path : find_file(options.path, "", {"train.h5"});
  const fs::path test = one_file ? fs::path() : find_file(options.path, "", {"test.h5"});
  ClientTable table(!one_file);
  EmnistFile(train).read([&](const std::string& name, ClientExamples examples) {
    table.add_train(train, name, ExampleKind::kCharacters, std::move(examples));
  });
  if (one_file) return std::move(table).federation(options);
  EmnistFile(test).read([&](const std::string& name, const ClientExamples& examples) {
    table.add_test(test, name, ExampleKind::kCharacters, examples);
  });
  return std::move(table).federation(options);
}

}  // namespace subfleet
