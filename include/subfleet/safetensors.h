#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// A tensor to be written; the values stay the caller's.
struct TensorView {
  std::string name;
  std::vector<size_t> shape;
  std::span<const float> values;
};

// What a safetensors file holds.
struct TensorFile {
  struct Tensor {
    std::string dtype;
    std::vector<size_t> shape;
    std::vector<float> values;  // of F32; tensors of other types are named but not read
  };
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;
};

// The same tensors and metadata give the same bytes.
void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata);

// Throws Error for anything that is not a well-formed safetensors file: its tensors lie end to end and fill
// it. Takes little more memory than the file holds.
TensorFile parse_safetensors(std::string_view content, const std::string& file_name);
TensorFile load_safetensors(const std::filesystem::path& path);

// The metadata of a safetensors file, however large it is: only the header is read. Throws Error.
std::map<std::string, std::string> load_safetensors_metadata(const std::filesystem::path& path);

// A model's flat weights as named tensors, with PyTorch's names and layouts.
std::vector<TensorView> named_weights(const ModelSpec& model, std::span<const float> weights);

// A model's flat weights out of a file's tensors; throws Error naming the first that is missing or of another
// type or shape.
std::vector<float> weights_from(const TensorFile& file, const ModelSpec& model, const std::string& file_name);

}  // namespace subfleet
