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
  kText,        // windows of text as symbols, and the symbol that follows
};

constexpr size_t values_of(ExampleKind kind) { return kind == ExampleKind::kText ? 80 : 28 * 28; }

// Examples of one client and kind, one after the other.
struct ClientExamples {
  std::vector<uint16_t> values;  // of text the symbols; of pictures pixel_code()
  std::vector<uint8_t> labels;
};

constexpr bool is_pixel(double value) { return value >= 0 && value <= 1; }  // NaN is none
// Pixels are kept as multiples of 1 / 65535, which has every byte / 255 exactly.
inline uint16_t pixel_code(double pixel) { return static_cast<uint16_t>(std::lround(pixel * 65535)); }
constexpr bool is_character_label(double label) {
  return label >= 0 && label < 62 && label == static_cast<int>(label);
}

// Gathers clients by name, out of files that hold some of them each, and makes a federation of them: clients
// by increasing name, each with its examples for training and, behind them, those for testing. Every error
// names the file.
class ClientTable {
 public:
  // With `own_split` there are files for testing beside those for training.
  explicit ClientTable(bool own_split) : own_split_(own_split) {}

  void add_train(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                 ClientExamples examples);
  // After all files for training.
  void add_test(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                const ClientExamples& examples);
  // The clients that have the options' min_samples.
  std::unique_ptr<Federation> federation(const DataOptions& options) &&;

 private:
  struct Client {
    ClientExamples examples;
    uint32_t tests = 0;
    bool tested = false;  // a file for testing had it
  };
  class Table;

  void set_kind(const std::filesystem::path& file, ExampleKind kind);

  bool own_split_;
  bool empty_ = true;
  ExampleKind kind_ = ExampleKind::kCharacters;
  std::map<std::string, Client> clients_;
};

// "user 'f0001_41'", as one line of decent length.
std::string user_title(std::string_view name);

}  // namespace subfleet
