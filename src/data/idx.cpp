#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "data/find_files.h"
#include "data/glyph_strokes.h"
#include "data/idx_file.h"
#include "data/sources.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

void require_as_many(const fs::path& path, size_t has, const fs::path& images, size_t wanted) {
  if (has == wanted) return;
  throw bad_request(path.string(), fmt::format("has {} values for the {} images of {}", has, wanted,
                                               images.filename().string()));
}

int32_t writer_at(const IdxArray& writers, size_t index) {
  const uint8_t* const b = writers.bytes.data() + 4 * index;
  return static_cast<int32_t>(uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 |
                              uint32_t{b[3]});
}

// Images, labels and writers from three IDX files. Pixels stay bytes until they are loaded.
class Idx final : public Federation {
 public:
  explicit Idx(const DataOptions& options) {
    if (options.path.empty()) {
      throw bad_request("data.path", "is not set; the idx source needs the folder with its three files");
    }
    const fs::path images_path = find_file(options.path, "", {"-images-idx3-ubyte", "-images-idx3-ubyte.gz"});
    const fs::path labels_path = find_file(options.path, "", {"-labels-idx1-ubyte", "-labels-idx1-ubyte.gz"});
    const fs::path writers_path = find_file(options.path, "", {"-writers-idx1-int", "-writers-idx1-int.gz"});
    const IdxArray writers = read_idx(writers_path, IdxType::kInt, 1);
    labels_ = read_idx(labels_path, IdxType::kUbyte, 1).bytes;
    IdxArray images = read_idx(images_path, IdxType::kUbyte, 3);

    const size_t count = images.sizes[0];
    if (count == 0) throw bad_request(images_path.string(), "holds no images");
    require_as_many(labels_path, labels_.size(), images_path, count);
    require_as_many(writers_path, writers.sizes[0], images_path, count);
    input_ = {1, images.sizes[1], images.sizes[2]};
    pixels_ = std::move(images.bytes);
    classes_ = uint32_t{*std::max_element(labels_.begin(), labels_.end())} + 1;
    group(writers, writers_path, options.min_samples);
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
  std::string class_name(uint32_t label) const override { return character_name(label); }
  uint64_t fingerprint() const override {
    Hash hash;
    hash.add_values(pixels_).add_values(labels_).add_values(values_);
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
  void group(const IdxArray& writers, const fs::path& path, uint32_t min_samples) {
    std::map<int32_t, std::vector<uint32_t>> by_writer;
    for (size_t i = 0; i < labels_.size(); ++i) {
      const int32_t writer = writer_at(writers, i);
      if (writer < 0) {
        throw bad_request(path.string(),
                          fmt::format("gives image {} the writer {}; writers are 0 or more", i, writer));
      }
      by_writer[writer].push_back(static_cast<uint32_t>(i));
    }
    size_t most = 0;
    for (auto& [writer, indices] : by_writer) {
      most = std::max(most, indices.size());
      if (indices.size() >= min_samples) clients_.push_back(std::move(indices));
    }
    if (clients_.empty()) {
      throw bad_request("data.min_samples",
                        fmt::format("none of the {} writers has {} images; the most is {}", by_writer.size(),
                                    min_samples, most));
    }
  }

  Shape input_;
  uint32_t classes_ = 0;
  std::vector<uint8_t> pixels_, labels_;
  std::array<float, 256> values_{};             // of each byte
  std::vector<std::vector<uint32_t>> clients_;  // indices of their images, by increasing writer
};

}  // namespace

std::unique_ptr<Federation> open_idx(const DataOptions& options) { return std::make_unique<Idx>(options); }

}  // namespace subfleet
