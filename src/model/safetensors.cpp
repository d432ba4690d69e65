#include "subfleet/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kHeaderAlignment = 8;

size_t element_count(const std::vector<size_t>& shape) {
  size_t count = 1;
  for (const size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<size_t>::max() / sizeof(float) / extent) {
      throw std::out_of_range("a shape is too large");
    }
    count *= extent;
  }
  return count;
}

TensorFile::Tensor parse_tensor(const Json& entry, std::string_view data) {
  if (entry.at("dtype") != "F32") throw std::invalid_argument("only dtype F32 is supported");
  TensorFile::Tensor tensor{.shape = entry.at("shape").get<std::vector<size_t>>(), .values = {}};
  const auto offsets = entry.at("data_offsets").get<std::vector<size_t>>();
  const size_t bytes = element_count(tensor.shape) * sizeof(float);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      offsets[1] - offsets[0] != bytes) {
    throw std::out_of_range("offsets do not fit the shape or the file");
  }
  tensor.values.resize(bytes / sizeof(float));
  if (bytes > 0) std::memcpy(tensor.values.data(), data.data() + offsets[0], bytes);
  return tensor;
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0;
  for (const TensorView& tensor : tensors) {
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

TensorFile load_safetensors(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  const auto malformed = [&](std::string_view why) {
    return bad_request(path.string(), fmt::format("not a readable safetensors file: {}", why));
  };
  if (content.size() < kLengthBytes) throw malformed("shorter than its header");
  uint64_t length = 0;
  std::memcpy(&length, content.data(), kLengthBytes);
  if (length > content.size() - kLengthBytes) throw malformed("truncated, or the header's length is wrong");
  const std::string_view data = std::string_view(content).substr(kLengthBytes + length);

  TensorFile file;
  std::string current = "header";
  try {
    const Json header = Json::parse(content.begin() + kLengthBytes, content.begin() + kLengthBytes + length);
    for (const auto& [name, entry] : header.items()) {
      current = name;
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        file.tensors.emplace(name, parse_tensor(entry, data));
      }
    }
  } catch (const Json::exception&) {
    throw malformed(fmt::format("'{}' is not what the format asks for", current));
  } catch (const std::logic_error& error) {
    throw malformed(fmt::format("tensor '{}': {}", current, error.what()));
  }
  return file;
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
