#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// A row of the weights for every symbol: symbol s, given as the number s, becomes row s.
class Embedding final : public LayerType {
 public:
  std::string_view name() const override { return "embedding"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"units", &LayerSpec::units, true},
                                        LayerField{"symbols", &LayerSpec::symbols, true}};
    return kFields;
  }

  bool learns() const override { return true; }
  bool makes_units(const LayerSpec&) const override { return true; }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.channels == 1 && input.width == 1) return {};
    return fmt::format("an embedding reads one symbol per step, an input of 1 x steps x 1, not {}",
                       shape_text(input));
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {spec.units, input.height, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape&) const override {
    return {{.name = spec.name + ".weight",
             .shape = {spec.symbols, spec.units},
             .rows = spec.symbols,
             .columns = spec.units,
             .rows_follow = Follows::kNothing,
             .columns_follow = Follows::kOutputs,
             .fan_in = spec.symbols,
             .fan_out = spec.units}};
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& embedding_layer() {
  static const Embedding type;
  return type;
}

}  // namespace subfleet
