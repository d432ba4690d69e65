#include "subfleet/data/recognise.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/find_files.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kImages = "-images-idx3-ubyte", kImagesPacked = "-images-idx3-ubyte.gz";

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

bool holds(const fs::path& folder, const std::vector<std::string_view>& endings) {
  return !find_files(folder, "", endings).empty();
}

bool has_text(const fs::path& folder) {
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".txt") return true;
  }
  return false;
}

std::string folder_source(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder / "train", ignored) || fs::is_directory(folder / "test", ignored))
    return "leaf";
  if (holds(folder, {kImages, kImagesPacked})) return "idx";
  if (holds(folder, {"train.h5", "test.h5"})) return "hdf5";
  if (holds(folder, {"data_batch_1.bin", "train.bin"})) return "cifar";
  if (holds(folder, {".json"})) return "leaf";
  return has_text(folder) ? "text" : "";
}

// Of a file, of a folder, or of the beginning of IDX files' names.
std::string source_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return folder_source(path);
  if (!fs::exists(path, ignored)) {
    const std::vector<fs::path> named =
        find_files(folder_of(path), path.filename().string(), {kImages, kImagesPacked});
    return named.empty() ? "" : "idx";
  }
  if (path.extension() == ".json") return "leaf";
  return path.extension() == ".h5" ? "hdf5" : "";
}

}  // namespace

DataOptions recognise(const fs::path& path) {
  DataOptions options{.source = source_of(path), .path = path};
  if (options.source.empty()) {
    throw bad_request(
        path_name(path),
        "holds nothing that a source reads: *-images-idx3-ubyte (idx), data_batch_1.bin or train.bin "
        "(cifar), *.txt (text), train/*.json and test/*.json or *.json (leaf), *train.h5 and "
        "*test.h5 (hdf5)");
  }
  if (options.source != "idx") return options;
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  const fs::path place = folder ? path : folder_of(path);
  const std::string beginning = folder ? "" : path.filename().string();
  const std::vector<fs::path> images = find_files(place, beginning, {kImages, kImagesPacked});
  const size_t with_writers =
      find_files(place, beginning, {"-writers-idx1-int", "-writers-idx1-int.gz"}).size();
  if (with_writers < images.size()) options.partition = "dirichlet";
  options.transpose = images.front().filename().string().starts_with("emnist-");
  return options;
}

double margin_brightness(const Federation& pictures) {
  constexpr size_t kEnough = 200;
  const Shape shape = pictures.input();
  double sum = 0, count = 0;
  size_t seen = 0;
  for (uint32_t client = 0; client < pictures.clients() && seen < kEnough; ++client) {
    const Examples examples = pictures.load(client);
    for (size_t i = 0; i < examples.count() && seen < kEnough; ++i, ++seen) {
      const std::span<const float> picture = examples.input(i);
      for (size_t at = 0; at < picture.size(); ++at) {
        const size_t x = at % shape.width, y = at / shape.width % shape.height;
        if (x != 0 && y != 0 && x != shape.width - 1 && y != shape.height - 1) continue;
        sum += picture[at];
        ++count;
      }
    }
  }
  return sum / count;
}

}  // namespace subfleet
