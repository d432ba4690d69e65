#include <fmt/format.h>

#include "model/layers.h"

namespace subfleet {
namespace {

// A learnt vector for each step of a sequence, added to what stands there.
class Position final : public LayerType {
 public:
  std::string_view name() const override { return "position"; }
  bool learns() const override { return true; }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format("a position layer reads a sequence, features x steps x 1, not {}", shape_text(input));
  }

  Shape output(const LayerSpec&, const Shape& input) const override { return input; }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    return {{.name = spec.name + ".weight",
             .shape = {input.height, input.channels},
             .rows = input.height,
             .columns = input.channels,
             .rows_follow = Follows::kNothing,
             .columns_follow = Follows::kOutputs,
             .fan_in = input.height,
             .fan_out = input.channels}};
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& position_layer() {
  static const Position type;
  return type;
}

}  // namespace subfleet
