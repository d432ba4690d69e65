#include "subfleet/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/safetensors_header.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kHeaderAlignment = 8;

constexpr size_t kMostHeader = 100'000'000;

std::vector<float> floats(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Of the header, as the first bytes of a file of that size say.
uint64_t header_length(std::string_view start, size_t file_size, const std::string& file_name) {
  if (start.size() < kLengthBytes) throw not_safetensors(file_name, "shorter than its header");
  uint64_t length = 0;
  std::memcpy(&length, start.data(), kLengthBytes);
  if (length > std::min(file_size - kLengthBytes, kMostHeader)) {
    throw not_safetensors(file_name, "truncated, or the header's length is wrong");
  }
  return length;
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    if (tensor.name == kMetadataKey) {
      throw bad_request(path.string(),
                        "a tensor cannot be called '__metadata__', where the format has the metadata");
    }
    const size_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((kHeaderAlignment - text.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  const uint64_t length = text.size();

  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(&length, 1)),
                                                std::as_bytes(std::span(text))};
  for (const TensorView& tensor : tensors) parts.push_back(std::as_bytes(tensor.values));
  write_file(path, parts);
}

TensorFile parse_safetensors(std::string_view content, const std::string& file_name) {
  const uint64_t length = header_length(content, content.size(), file_name);
  content.remove_prefix(kLengthBytes);
  const std::string_view data = content.substr(length);
  SafetensorsHeader header = parse_safetensors_header(content.substr(0, length), data.size(), file_name);

  TensorFile file{.metadata = std::move(header.metadata), .tensors = {}};
  for (SafetensorsHeader::Entry& entry : header.entries) {
    TensorFile::Tensor tensor{.dtype = std::move(entry.dtype), .shape = std::move(entry.shape), .values = {}};
    if (tensor.dtype == "F32") tensor.values = floats(data.substr(entry.begin, entry.end - entry.begin));
    file.tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  return file;
}

std::map<std::string, std::string> load_safetensors_metadata(const std::filesystem::path& path) {
  const std::string name = path.string(), start = read_file_start(path, kLengthBytes);
  const size_t size = std::filesystem::file_size(path);
  const uint64_t length = header_length(start, size, name);
  const std::string header = read_file_start(path, kLengthBytes + length).substr(kLengthBytes);
  return parse_safetensors_header(header, size - kLengthBytes - length, name).metadata;
}

TensorFile load_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path), path.string());
}

std::vector<TensorView> named_weights(const ModelSpec& model, std::span<const float> weights) {
  std::vector<TensorView> tensors;
  for (const ParameterSpec& p : model_parameters(model)) {
    tensors.push_back({p.name, p.shape, weights.subspan(p.offset, p.size())});
  }
  return tensors;
}

std::vector<float> weights_from(const TensorFile& file, const ModelSpec& model,
                                const std::string& file_name) {
  if (const auto vocabulary = file.metadata.find("vocabulary");
      vocabulary != file.metadata.end() && vocabulary->second != model.vocabulary) {
    throw bad_request(file_name, fmt::format("has another vocabulary than {}", model.name));
  }
  std::vector<float> weights;
  for (const ParameterSpec& p : model_parameters(model)) {
    const auto found = file.tensors.find(p.name);
    if (found == file.tensors.end()) {
      throw bad_request(file_name, fmt::format("has no tensor '{}', which {} needs", p.name, model.name));
    }
    if (found->second.dtype != "F32") {
      throw bad_request(file_name, fmt::format("'{}' is {}; only F32 is read", p.name, found->second.dtype));
    }
    if (found->second.shape != p.shape) {
      throw bad_request(
          file_name, fmt::format("'{}' is [{}]; {} needs [{}]", p.name, fmt::join(found->second.shape, ", "),
                                 model.name, fmt::join(p.shape, ", ")));
    }
    const std::vector<float>& values = found->second.values;
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
      throw bad_request(file_name, fmt::format("'{}' holds values that are not finite", p.name));
    }
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

}  // namespace subfleet
