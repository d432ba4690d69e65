#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

constexpr size_t kGates = 4;

// PyTorch's names and layouts: the rows are those of the gates i, f, g, o, one after the other. A kept unit
// keeps its row of every gate and its column of the recurrent weights. Biases start at zero.
class Lstm final : public LayerType {
 public:
  std::string_view name() const override { return "lstm"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"units", &LayerSpec::units, true},
                                        LayerField{"last_step", &LayerSpec::last_step}};
    return kFields;
  }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format("an lstm layer reads a sequence, features x steps x 1, not {}", shape_text(input));
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {spec.units, spec.last_step ? 1 : input.height, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    const auto matrix = [&](const char* tensor, size_t columns, Follows follows) {
      return ParameterSpec{.name = spec.name + tensor,
                           .shape = {kGates * spec.units, columns},
                           .rows = kGates * spec.units,
                           .columns = columns,
                           .columns_follow = follows,
                           .row_groups = kGates,
                           .fan_in = columns,
                           .fan_out = spec.units};
    };
    const auto bias = [&](const char* tensor) {
      return ParameterSpec{.name = spec.name + tensor,
                           .shape = {kGates * spec.units},
                           .rows = kGates * spec.units,
                           .row_groups = kGates};
    };
    return {matrix(".weight_ih_l0", input.channels, Follows::kInputs),
            matrix(".weight_hh_l0", spec.units, Follows::kUnits), bias(".bias_ih_l0"), bias(".bias_hh_l0")};
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    const auto in = static_cast<double>(input.channels), units = static_cast<double>(spec.units);
    return 2 * static_cast<double>(kGates) * units * (in + units) * static_cast<double>(input.height);
  }
};

}  // namespace

const LayerType& lstm_layer() {
  static const Lstm type;
  return type;
}

}  // namespace subfleet
