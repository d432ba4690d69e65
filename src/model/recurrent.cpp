#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// PyTorch's names and layouts: the rows are those of the gates, one after the other: i, f, g, o of an LSTM,
// r, z, n of a GRU. A kept unit keeps its row of every gate and its column of the recurrent weights. Biases
// start at zero.
class Recurrent final : public LayerType {
 public:
  Recurrent(std::string_view name, size_t gates) : name_(name), gates_(gates) {}

  std::string_view name() const override { return name_; }
  bool learns() const override { return true; }
  bool makes_units(const LayerSpec&) const override { return true; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"units", &LayerSpec::units, true},
                                        LayerField{"last_step", &LayerSpec::last_step}};
    return kFields;
  }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format("{} {} layer reads a sequence, features x steps x 1, not {}",
                       name_ == "lstm" ? "an" : "a", name_, shape_text(input));
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {spec.units, spec.last_step ? 1 : input.height, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    const auto matrix = [&](const char* tensor, size_t columns, Follows follows) {
      return ParameterSpec{.name = spec.name + tensor,
                           .shape = {gates_ * spec.units, columns},
                           .rows = gates_ * spec.units,
                           .columns = columns,
                           .columns_follow = follows,
                           .row_groups = gates_,
                           .fan_in = columns,
                           .fan_out = spec.units};
    };
    const auto bias = [&](const char* tensor) {
      return ParameterSpec{.name = spec.name + tensor,
                           .shape = {gates_ * spec.units},
                           .rows = gates_ * spec.units,
                           .row_groups = gates_};
    };
    return {matrix(".weight_ih_l0", input.channels, Follows::kInputs),
            matrix(".weight_hh_l0", spec.units, Follows::kOutputs), bias(".bias_ih_l0"), bias(".bias_hh_l0")};
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    const auto in = static_cast<double>(input.channels), units = static_cast<double>(spec.units);
    return 2 * static_cast<double>(gates_) * units * (in + units) * static_cast<double>(input.height);
  }

 private:
  std::string_view name_;
  size_t gates_;
};

}  // namespace

const LayerType& lstm_layer() {
  static const Recurrent type("lstm", 4);
  return type;
}

const LayerType& gru_layer() {
  static const Recurrent type("gru", 3);
  return type;
}

}  // namespace subfleet
