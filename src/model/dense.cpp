#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

class Dense final : public LayerType {
 public:
  std::string_view name() const override { return "dense"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"units", &LayerSpec::units, true},
                                        LayerField{"initial", &LayerSpec::initial}};
    return kFields;
  }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.height == 1 && input.width == 1) return {};
    const bool sequence = input.width == 1;
    return fmt::format("a dense layer takes a flat input, not {}; put a flatten layer before it{}",
                       shape_text(input),
                       sequence ? ", or last_step = true into the lstm layer before it" : "");
  }

  Shape output(const LayerSpec& spec, const Shape&) const override { return {spec.units, 1, 1}; }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    return 2 * static_cast<double>(input.size()) * static_cast<double>(spec.units);
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    return {{.name = spec.name + ".weight",
             .shape = {spec.units, input.channels},
             .rows = spec.units,
             .columns = input.channels,
             .columns_follow = Follows::kInputs,
             .fan_in = input.channels,
             .fan_out = spec.initial == Initial::kHe ? 0 : spec.units},
            {.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units}};
  }
};

}  // namespace

const LayerType& dense_layer() {
  static const Dense type;
  return type;
}

}  // namespace subfleet
