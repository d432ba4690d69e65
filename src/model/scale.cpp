#include "model/layers.h"

namespace subfleet {
namespace {

// A learnt number that all values are multiplied by, as at the end of a residual branch: 0 in the beginning,
// so that the block begins as its shortcut (ReZero: Bachlechner et al. 2020).
class Scale final : public LayerType {
 public:
  std::string_view name() const override { return "scale"; }
  bool learns() const override { return true; }
  Shape output(const LayerSpec&, const Shape& input) const override { return input; }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape&) const override {
    return {{.name = spec.name + ".weight", .shape = {1}, .rows = 1, .rows_follow = Follows::kNothing}};
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& scale_layer() {
  static const Scale type;
  return type;
}

}  // namespace subfleet
