#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "data/sources.h"
#include "model/vocabulary.h"
#include "subfleet/base/file.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> find_texts(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".txt" && entry->is_regular_file(code)) found.push_back(entry->path());
  }
  if (code) throw bad_request(path_name(folder), fmt::format("cannot be searched ({})", code.message()));
  if (found.empty())
    throw bad_request(path_name(folder), "holds no file *.txt; the text source needs one per client");
  std::sort(found.begin(), found.end());
  return found;
}

// One text file per client, in the folder or its subfolders. A window begins every data.window_step
// characters; windows are cut when they are needed. Files too short for a window and the character after it
// are left out.
class Text final : public Federation {
 public:
  explicit Text(const DataOptions& options) : step_(options.window_step) {
    if (options.path.empty()) {
      throw bad_request("data.path",
                        "is not set; the text source needs the folder with one .txt file per client");
    }
    if (step_ == 0) throw bad_request("data.window_step", "is 0 characters; must be at least 1");
    const std::vector<fs::path> files = find_texts(options.path);
    uint32_t most = 0;
    for (const fs::path& file : files) {
      std::string text = read_file(file);
      for (char& character : text) character = static_cast<char>(kSymbolOf[static_cast<uint8_t>(character)]);
      const uint32_t windows = count_windows(text);
      most = std::max(most, windows);
      if (windows > 0 && windows >= options.min_samples) texts_.push_back(std::move(text));
    }
    if (texts_.empty()) {
      throw bad_request(path_name(options.path),
                        fmt::format("none of the {} texts has {} windows of {} characters; the most is {}",
                                    files.size(), std::max(options.min_samples, 1u), kWindow, most));
    }
  }

  uint32_t clients() const override { return static_cast<uint32_t>(texts_.size()); }
  Shape input() const override { return {1, kWindow, 1}; }
  uint32_t classes() const override { return kSymbols; }
  uint32_t samples(uint32_t client) const override { return count_windows(texts_.at(client)); }

  std::string class_name(uint32_t label) const override { return symbol_name(label); }

  uint64_t fingerprint() const override {
    Hash hash;
    hash.add(step_);
    for (const std::string& text : texts_) hash.add(text);
    return hash.value();
  }

  void read(uint32_t client, Examples& into) const override {
    const std::string& text = texts_.at(client);
    const size_t count = count_windows(text);
    into.reset(kWindow, count);
    for (size_t window = 0; window < count; ++window) {
      const char* const first = text.data() + window * step_;
      for (size_t i = 0; i < kWindow; ++i) into.inputs.push_back(static_cast<float>(first[i]));
      into.labels.push_back(first[kWindow]);
    }
  }

 private:
  uint32_t count_windows(const std::string& text) const {
    return text.size() > kWindow ? static_cast<uint32_t>((text.size() - kWindow - 1) / step_ + 1) : 0;
  }

  uint32_t step_;
  std::vector<std::string> texts_;  // as symbols
};

}  // namespace

std::unique_ptr<Federation> open_text(const DataOptions& options) { return std::make_unique<Text>(options); }

}  // namespace subfleet
