#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// Fully connected; of a sequence, at every step.
class Dense final : public LayerType {
 public:
  std::string_view name() const override { return "dense"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"units", &LayerSpec::units, true},
                                        LayerField{"initial", &LayerSpec::initial},
                                        LayerField{"bias", &LayerSpec::bias}};
    return kFields;
  }

  bool learns() const override { return true; }
  bool makes_units(const LayerSpec&) const override { return true; }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format(
        "a dense layer takes a flat input or a sequence, not {}; put a flatten layer before it",
        shape_text(input));
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {spec.units, input.height, 1};
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    return 2 * static_cast<double>(input.size()) * static_cast<double>(spec.units);
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    std::vector<ParameterSpec> tensors{with_initial(spec.initial, {.name = spec.name + ".weight",
                                                                   .shape = {spec.units, input.channels},
                                                                   .rows = spec.units,
                                                                   .columns = input.channels,
                                                                   .columns_follow = Follows::kInputs,
                                                                   .fan_in = input.channels,
                                                                   .fan_out = spec.units})};
    if (spec.bias)
      tensors.push_back({.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units});
    return tensors;
  }
};

}  // namespace

const LayerType& dense_layer() {
  static const Dense type;
  return type;
}

}  // namespace subfleet
