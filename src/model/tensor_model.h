#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/toml_text.h"
#include "subfleet/model.h"

namespace subfleet {

// Models that are known by their tensors alone (TensorModel).

// Throws Error, in one line that names the group or tensor.
void check_tensor_model(const TensorModel& model);

std::vector<ParameterSpec> tensor_parameters(const TensorModel& model);
std::vector<UnitGroup> tensor_groups(const TensorModel& model);

// Which rows and columns of a tensor are left where so many units of each group are kept, which are
// ascending.
struct KeptAxes {
  std::vector<uint32_t> rows, columns;
};
KeptAxes kept_axes(const TensorModel& model, size_t tensor, const std::vector<std::vector<uint32_t>>& kept);

// The model of those that are left.
TensorModel shrunk(const TensorModel& model, const std::vector<std::vector<uint32_t>>& kept);

// Its keys in a model file: `outputs`, `group` and `tensor`.
TensorModel read_tensor_model(const toml::table& table);
std::string tensor_model_toml(const TensorModel& model);

}  // namespace subfleet
