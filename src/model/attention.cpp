#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// Self-attention (Vaswani et al. 2017) up to its heads' outputs side by side; a dense layer behind it is the
// output projection. Names and layout of the projections are those of PyTorch's MultiheadAttention: the rows
// of the queries, keys and values, one after the other. A head is a unit.
class Attention final : public LayerType {
 public:
  std::string_view name() const override { return "attention"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{
        LayerField{"heads", &LayerSpec::units, true}, LayerField{"head_units", &LayerSpec::head_units, true},
        LayerField{"causal", &LayerSpec::causal}, LayerField{"initial", &LayerSpec::initial}};
    return kFields;
  }

  bool learns() const override { return true; }
  bool makes_units(const LayerSpec&) const override { return true; }
  size_t spread(const LayerSpec& spec, const Shape&) const override { return spec.head_units; }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format("an attention layer reads a sequence, features x steps x 1, not {}",
                       shape_text(input));
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {spec.units * spec.head_units, input.height, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    constexpr size_t kProjections = 3;
    const size_t rows = kProjections * spec.units * spec.head_units;
    return {with_initial(spec.initial, {.name = spec.name + ".in_proj_weight",
                                        .shape = {rows, input.channels},
                                        .rows = rows,
                                        .columns = input.channels,
                                        .columns_follow = Follows::kInputs,
                                        .row_groups = kProjections,
                                        .fan_in = input.channels,
                                        .fan_out = rows / kProjections}),
            {.name = spec.name + ".in_proj_bias", .shape = {rows}, .rows = rows, .row_groups = kProjections}};
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    const auto in = static_cast<double>(input.channels), steps = static_cast<double>(input.height),
               width = static_cast<double>(spec.units * spec.head_units);
    return 2 * steps * width * (3 * in + 2 * steps);
  }
};

}  // namespace

const LayerType& attention_layer() {
  static const Attention type;
  return type;
}

}  // namespace subfleet
