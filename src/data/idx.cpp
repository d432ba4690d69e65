#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "data/deal.h"
#include "data/find_files.h"
#include "data/glyph_strokes.h"
#include "data/idx_file.h"
#include "data/sources.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

void require_as_many(const fs::path& path, size_t has, const fs::path& images, size_t wanted) {
  if (has == wanted) return;
  throw bad_request(path_name(path), fmt::format("has {} values for the {} images of {}", has, wanted,
                                                 images.filename().string()));
}

int32_t writer_at(const IdxArray& writers, size_t index) {
  const uint8_t* const b = writers.bytes.data() + 4 * index;
  return static_cast<int32_t>(uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 |
                              uint32_t{b[3]});
}

constexpr std::string_view kImages = "-images-idx3-ubyte", kImagesPacked = "-images-idx3-ubyte.gz";
constexpr std::string_view kLabels = "-labels-idx1-ubyte", kLabelsPacked = "-labels-idx1-ubyte.gz";
constexpr std::string_view kWriters = "-writers-idx1-int", kWritersPacked = "-writers-idx1-int.gz";

constexpr std::string_view kDealInstead =
    "set data.partition to iid, dirichlet or shards to deal its images to data.clients clients";

// The part of an image file's name before its ending.
std::string set_name(const fs::path& images) {
  const std::string name = images.filename().string();
  return name.substr(0, name.rfind(kImages));
}

// Whether these are a test set and, after it by name, its training set: EMNIST's "x-test" and "x-train",
// MNIST's "t10k" and "train".
bool are_test_and_train(const std::vector<fs::path>& images) {
  if (images.size() != 2) return false;
  const std::string test = set_name(images[0]), train = set_name(images[1]);
  if (!train.ends_with("train")) return false;
  const std::string both = train.substr(0, train.size() - std::string_view("train").size());
  return test == both + "test" || test == both + "t10k";
}

void transpose(std::vector<uint8_t>& pixels, const Shape& image) {
  std::vector<uint8_t> turned(image.size());
  for (auto first = pixels.begin(); first != pixels.end(); first += static_cast<ptrdiff_t>(image.size())) {
    for (size_t y = 0; y < image.height; ++y) {
      for (size_t x = 0; x < image.width; ++x) {
        turned[x * image.height + y] = first[static_cast<ptrdiff_t>(y * image.width + x)];
      }
    }
    std::copy(turned.begin(), turned.end(), first);
  }
}

// Images and labels from IDX files, by writer from a third file or dealt to clients. A test set that
// comes with its training set stays a test set: by its writers, or dealt evenly. Pixels stay bytes until they
// are loaded.
class Idx final : public Federation {
 public:
  explicit Idx(const DataOptions& options) {
    if (options.path.empty()) {
      throw bad_request("data.path", "is not set; the idx source needs the folder with its files");
    }
    std::error_code ignored;
    const bool whole_folder = fs::is_directory(options.path, ignored);
    folder_ = whole_folder ? options.path : options.path.has_parent_path() ? options.path.parent_path() : ".";
    const std::string beginning = whole_folder ? "" : options.path.filename().string();
    const std::vector<fs::path> images = find_files(folder_, beginning, {kImages, kImagesPacked});
    if (are_test_and_train(images)) {
      append(images[1], set_name(images[1]));
      first_test_ = static_cast<uint32_t>(labels_.size());
      append(images[0], set_name(images[0]));
    } else if (images.size() > 1) {
      throw bad_request(
          path_name(folder_),
          fmt::format("holds both {} and {}; keep one set, or let data.path end with what its names "
                      "begin with, as in FOLDER/emnist-byclass",
                      images[0].filename().string(), images[1].filename().string()));
    } else {
      append(find_file(folder_, beginning, {kImages, kImagesPacked}), beginning);
    }
    classes_ = uint32_t{*std::max_element(labels_.begin(), labels_.end())} + 1;
    if (options.partition == "auto") {
      group_by_writer(images, beginning);
      keep_large(clients_, options.min_samples, "writers");
    } else {
      const size_t training = first_test_.value_or(static_cast<uint32_t>(labels_.size()));
      clients_ = deal_with_tests(labels_, training, classes_, options);
      keep_large(clients_, options.min_samples, "clients");
    }
    if (options.transpose) {
      transpose(pixels_, input_);
      std::swap(input_.height, input_.width);
    }
    for (size_t byte = 0; byte < values_.size(); ++byte) {
      const float value = static_cast<float>(byte) / 255.0f;
      values_[byte] = options.raw_polarity ? value : 1.0f - value;
    }
  }

  uint32_t clients() const override { return static_cast<uint32_t>(clients_.size()); }
  Shape input() const override { return input_; }
  uint32_t classes() const override { return classes_; }
  uint32_t samples(uint32_t client) const override {
    return static_cast<uint32_t>(clients_.at(client).size());
  }
  std::optional<uint32_t> own_test_samples(uint32_t client) const override {
    if (!first_test_) return std::nullopt;
    return count_tests(clients_.at(client), *first_test_);
  }
  std::string class_name(uint32_t label) const override { return character_name(label); }
  uint64_t fingerprint() const override {
    Hash hash;
    hash.add_values(pixels_).add_values(labels_).add_values(values_);
    if (first_test_) hash.add(*first_test_);
    for (const auto& images : clients_) hash.add_values(images);
    return hash.value();
  }

  void read(uint32_t client, Examples& into) const override {
    const std::vector<uint32_t>& indices = clients_.at(client);
    into.reset(input_.size(), indices.size());
    for (const uint32_t index : indices) {
      const std::span pixels(pixels_.data() + index * input_.size(), input_.size());
      for (const uint8_t pixel : pixels) into.inputs.push_back(values_[pixel]);
      into.labels.push_back(labels_[index]);
    }
  }

 private:
  // Reads one more set of images, and their labels from the only file that begins like it.
  void append(const fs::path& images_path, const std::string& beginning) {
    const fs::path labels_path = find_file(folder_, beginning, {kLabels, kLabelsPacked});
    const std::vector<uint8_t> labels = read_idx(labels_path, IdxType::kUbyte, 1).bytes;
    IdxArray images = read_idx(images_path, IdxType::kUbyte, 3);
    if (images.sizes[0] == 0) throw bad_request(path_name(images_path), "holds no images");
    require_as_many(labels_path, labels.size(), images_path, images.sizes[0]);
    const Shape input{1, images.sizes[1], images.sizes[2]};
    if (!labels_.empty() && !(input == input_)) {
      throw bad_request(path_name(images_path),
                        fmt::format("has images of {} x {}; those for training are {} x {}", input.height,
                                    input.width, input_.height, input_.width));
    }
    input_ = input;
    labels_.insert(labels_.end(), labels.begin(), labels.end());
    if (pixels_.empty()) {
      pixels_ = std::move(images.bytes);
    } else {
      pixels_.insert(pixels_.end(), images.bytes.begin(), images.bytes.end());
    }
  }

  // With a test set, each of the two sets has its own file of writers: images[0] is
  // the test set, images[1] the training set.
  void group_by_writer(const std::vector<fs::path>& images, const std::string& beginning) {
    std::map<int32_t, std::vector<uint32_t>> by_writer;
    if (first_test_) {
      add_writers(set_name(images[1]), 0, *first_test_, by_writer);
      add_writers(set_name(images[0]), *first_test_, static_cast<uint32_t>(labels_.size()), by_writer);
    } else {
      add_writers(beginning, 0, static_cast<uint32_t>(labels_.size()), by_writer);
    }
    for (auto& [writer, indices] : by_writer) {
      if (first_test_ && indices.front() >= *first_test_) {
        throw bad_request(
            path_name(folder_),
            fmt::format("writer {} has images for testing but none for training; {}", writer, kDealInstead));
      }
      clients_.push_back(std::move(indices));
    }
  }

  // Reads the writers of images `first` to `end` from the only file that begins like that.
  void add_writers(const std::string& beginning, uint32_t first, uint32_t end,
                   std::map<int32_t, std::vector<uint32_t>>& by_writer) const {
    if (find_files(folder_, beginning, {kWriters, kWritersPacked}).empty()) {
      throw bad_request(path_name(folder_),
                        fmt::format("holds no file {0}*-writers-idx1-int or {0}*-writers-idx1-int.gz; {1}",
                                    beginning, kDealInstead));
    }
    const fs::path path = find_file(folder_, beginning, {kWriters, kWritersPacked});
    const IdxArray writers = read_idx(path, IdxType::kInt, 1);
    if (writers.sizes[0] != end - first) {
      throw bad_request(path_name(path),
                        fmt::format("has {} values for {} images", writers.sizes[0], end - first));
    }
    for (uint32_t i = 0; i < end - first; ++i) {
      const int32_t writer = writer_at(writers, i);
      if (writer < 0) {
        throw bad_request(path_name(path),
                          fmt::format("gives image {} the writer {}; writers are 0 or more", i, writer));
      }
      by_writer[writer].push_back(first + i);
    }
  }

  fs::path folder_;
  Shape input_;
  uint32_t classes_ = 0;
  std::vector<uint8_t> pixels_, labels_;
  std::optional<uint32_t> first_test_;  // with a test set: its first image, behind those for training
  std::array<float, 256> values_{};     // of each byte
  ClientIndices clients_;               // by increasing writer, or as dealt
};

}  // namespace

std::unique_ptr<Federation> open_idx(const DataOptions& options) { return std::make_unique<Idx>(options); }

}  // namespace subfleet
