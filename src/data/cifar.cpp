#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "data/deal.h"
#include "data/sources.h"
#include "subfleet/base/file.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

constexpr Shape kImage{3, 32, 32};
constexpr uint64_t kMostBytes = uint64_t{1} << 32;

// The two data sets of Krizhevsky 2009. A record is its labels, the last of which counts, and the image: 1024
// bytes each of red, green and blue, row by row.
struct Format {
  std::string_view name;
  std::span<const std::string_view> files;  // the last one is the test set
  size_t label_bytes;
  uint32_t classes;
};

constexpr std::array<std::string_view, 6> kCifar10Files{"data_batch_1.bin", "data_batch_2.bin",
                                                        "data_batch_3.bin", "data_batch_4.bin",
                                                        "data_batch_5.bin", "test_batch.bin"};
constexpr std::array<std::string_view, 2> kCifar100Files{"train.bin", "test.bin"};
constexpr std::array<Format, 2> kFormats{{
    {"CIFAR-10", kCifar10Files, 1, 10},
    {"CIFAR-100", kCifar100Files, 2, 100},
}};
constexpr std::array<std::string_view, 10> kCifar10Classes{
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};

// The format whose first file exists.
const Format& find_format(const fs::path& folder) {
  const Format* found = nullptr;
  for (const Format& format : kFormats) {
    std::error_code ignored;
    if (!fs::exists(folder / format.files.front(), ignored)) continue;
    if (found != nullptr) {
      throw bad_request(path_name(folder), fmt::format("holds both {} and {}; keep one", found->files.front(),
                                                       format.files.front()));
    }
    found = &format;
  }
  if (found != nullptr) return *found;
  throw bad_request(path_name(folder),
                    "holds neither data_batch_1.bin (CIFAR-10) nor train.bin (CIFAR-100), the binary "
                    "versions' first files");
}

// Reads a file, which must consist of whole records.
std::string read_records(const fs::path& path, const Format& format) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) {
    throw bad_request(path_name(path), fmt::format("is not a file that can be read; {} has {} files",
                                                   format.name, format.files.size()));
  }
  const uint64_t size = fs::file_size(path, code);
  const size_t record = format.label_bytes + kImage.size();
  if (code || size == 0 || size % record != 0 || size > kMostBytes) {
    throw bad_request(path_name(path),
                      fmt::format("has {} bytes; a file of {} holds one or more records of {}",
                                  code ? 0 : size, format.name, record));
  }
  std::string bytes = read_file(path);
  if (bytes.size() != size) throw failure(path_name(path), "changed while it was read");
  return bytes;
}

// CIFAR's binary files. The images have no owners: those for training are dealt to data.clients clients, and
// the test set, which stays one, evenly.
class Cifar final : public Federation {
 public:
  explicit Cifar(const DataOptions& options) {
    if (options.path.empty()) {
      throw bad_request("data.path", "is not set; the cifar source needs the folder with the binary files");
    }
    const Format& format = find_format(options.path);
    classes_ = format.classes;
    for (const std::string_view name : format.files) {
      first_test_ = static_cast<uint32_t>(labels_.size());
      append(options.path / name, format);
    }
    clients_ = deal_with_tests(labels_, first_test_, classes_, options);
    keep_large(clients_, options.min_samples, "clients");
  }

  uint32_t clients() const override { return static_cast<uint32_t>(clients_.size()); }
  Shape input() const override { return kImage; }
  uint32_t classes() const override { return classes_; }
  uint32_t samples(uint32_t client) const override {
    return static_cast<uint32_t>(clients_.at(client).size());
  }
  std::optional<uint32_t> own_test_samples(uint32_t client) const override {
    return count_tests(clients_.at(client), first_test_);
  }
  std::string class_name(uint32_t label) const override {
    if (classes_ == kCifar10Classes.size()) return std::string(kCifar10Classes.at(label));
    return std::to_string(label);
  }

  uint64_t fingerprint() const override {
    Hash hash;
    hash.add_values(pixels_).add_values(labels_).add(first_test_);
    for (const auto& images : clients_) hash.add_values(images);
    return hash.value();
  }

  void read(uint32_t client, Examples& into) const override {
    const std::vector<uint32_t>& indices = clients_.at(client);
    into.reset(kImage.size(), indices.size());
    for (const uint32_t index : indices) {
      const std::span pixels(pixels_.data() + index * kImage.size(), kImage.size());
      for (const uint8_t pixel : pixels) into.inputs.push_back(static_cast<float>(pixel) / 255.0f);
      into.labels.push_back(labels_[index]);
    }
  }

 private:
  void append(const fs::path& path, const Format& format) {
    const std::string bytes = read_records(path, format);
    const size_t record = format.label_bytes + kImage.size();
    for (size_t at = 0; at < bytes.size(); at += record) {
      const auto label = static_cast<uint8_t>(bytes[at + format.label_bytes - 1]);
      if (label >= format.classes) {
        throw bad_request(path_name(path),
                          fmt::format("gives image {} the label {}; those of {} are below {}", at / record,
                                      label, format.name, format.classes));
      }
      labels_.push_back(label);
      pixels_.insert(pixels_.end(), bytes.begin() + static_cast<ptrdiff_t>(at + format.label_bytes),
                     bytes.begin() + static_cast<ptrdiff_t>(at + record));
    }
  }

  uint32_t classes_ = 0, first_test_ = 0;
  std::vector<uint8_t> pixels_, labels_;
  ClientIndices clients_;
};

}  // namespace

std::unique_ptr<Federation> open_cifar(const DataOptions& options) {
  return std::make_unique<Cifar>(options);
}

}  // namespace subfleet
