#include <algorithm>
#include <cstring>

#include "../temporary_folder.h"
#include "fuzz.h"
#include "subfleet/base/file.h"
#include "subfleet/safetensors.h"

namespace subfleet::fuzz {
namespace {

const std::filesystem::path& scratch() {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = folder / "scratch";
  return path;
}

std::vector<TensorView> views(const TensorFile& file) {
  std::vector<TensorView> tensors;
  for (const auto& [name, tensor] : file.tensors) tensors.push_back({name, tensor.shape, tensor.values});
  return tensors;
}

std::string written(const TensorFile& file) {
  save_safetensors(scratch(), views(file), file.metadata);
  return read_file(scratch());
}

std::string with_length(const std::string& header, size_t data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + std::string(data, 'x');
}

}  // namespace

std::vector<std::string> seeds() {
  const TensorFile file{.metadata = {{"round", "3"}},
                        .tensors = {{"a", {"F32", {2, 3}, std::vector<float>(6, 1.5f)}},
                                    {"b", {"F32", {}, {2.0f}}},
                                    {"none", {"F32", {0, 5}, {}}}}};
  return {written(file), written({}),
          with_length(R"({"s":{"dtype":"I64","shape":[2],"data_offsets":[4,20]},)"
                      R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )",
                      20)};
}

void try_input(std::string_view input) {
  const TensorFile file = parse_safetensors(input, "f");
  size_t values = 0;
  for (const auto& [name, tensor] : file.tensors) {
    values += tensor.values.size();
    if (tensor.dtype != "F32") continue;
    size_t count = 1;
    for (const size_t extent : tensor.shape) count *= extent;
    expect(count == tensor.values.size(), "the shape says how many values there are");
  }
  expect(values * sizeof(float) <= input.size(), "the values are in the file");
  if (!std::ranges::all_of(file.tensors, [](const auto& t) { return t.second.dtype == "F32"; })) return;
  const std::string text = must_work([&] { return written(file); });
  const TensorFile again = must_work([&] { return parse_safetensors(text, "again"); });
  expect(written(again) == text, "what is read and written reads back the same");
  expect(again.metadata == file.metadata && again.tensors.size() == file.tensors.size(), "nothing is lost");
}

}  // namespace subfleet::fuzz
