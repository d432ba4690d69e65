#include <fmt/format.h>

#include "model/layers.h"

namespace subfleet {
namespace {

// Ba, Kiros and Hinton, 2016: mean 0 and variance 1 over the features of each step of a sequence, or of a
// vector; in a sub-model, over the kept ones.
class LayerNorm final : public LayerType {
 public:
  std::string_view name() const override { return "layernorm"; }
  std::string_view stem() const override { return "norm"; }
  bool learns() const override { return true; }

  std::string misfit(const LayerSpec&, const Shape& input) const override {
    if (input.width == 1) return {};
    return fmt::format(
        "a layernorm layer takes a sequence or a flat input, not {}; of images, groupnorm with groups = 1 "
        "normalises each as a whole",
        shape_text(input));
  }

  Shape output(const LayerSpec&, const Shape& input) const override { return input; }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    return normalisation_parameters(spec, input);
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& layernorm_layer() {
  static const LayerNorm type;
  return type;
}

}  // namespace subfleet
