#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/data.h"

namespace subfleet {

enum class ExampleKind {
  kCharacters,  // pictures of characters: 28 x 28 pixels, 62 classes at most
  kText,        // windows of text, as symbols, and the symbol that follows each
};

constexpr size_t values_of(ExampleKind kind) { return kind == ExampleKind::kText ? 80 : 28 * 28; }

// Examples of one client and kind, one after the other.
struct ClientExamples {
  std::vector<uint16_t> values;  // symbols for text, pixel_code() for pictures
  std::vector<uint8_t> labels;
};

constexpr bool is_pixel(double value) { return value >= 0 && value <= 1; }  // false for NaN
// Pixels are kept as multiples of 1 / 65535, which represents every byte / 255 exactly.
inline uint16_t pixel_code(double pixel) { return static_cast<uint16_t>(std::lround(pixel * 65535)); }
constexpr bool is_character_label(double label) {
  return label >= 0 && label < 62 && label == static_cast<int>(label);
}

// Collects clients by name from files that each hold some of them, and makes a federation of them: clients
// ordered by name, each with its training examples followed by its test examples. Every error names the file.
class ClientTable {
 public:
  // `own_split`: there are test files beside the training files.
  explicit ClientTable(bool own_split) : own_split_(own_split) {}

  void add_train(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                 ClientExamples examples);
  // Call it after all training files were added.
  void add_test(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                const ClientExamples& examples);
  // Keeps the clients that have at least the options' min_samples.
  std::unique_ptr<Federation> federation(const DataOptions& options) &&;

 private:
  struct Client {
    ClientExamples examples;
    uint32_t tests = 0;
    bool tested = false;  // a test file has this client
  };
  class Table;

  void set_kind(const std::filesystem::path& file, ExampleKind kind);

  bool own_split_;
  bool empty_ = true;
  ExampleKind kind_ = ExampleKind::kCharacters;
  std::map<std::string, Client> clients_;
};

// "user 'f0001_41'", on one line and shortened if need be.
std::string user_title(std::string_view name);

}  // namespace subfleet
