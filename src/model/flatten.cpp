#include "model/layers.h"

namespace subfleet {
namespace {

// C,H,W order: a kept channel keeps its height * width values.
class Flatten final : public LayerType {
 public:
  std::string_view name() const override { return "flatten"; }
  bool passes_factors() const override { return true; }

  size_t spread(const LayerSpec&, const Shape& input) const override { return input.height * input.width; }

  Shape output(const LayerSpec&, const Shape& input) const override { return {input.size(), 1, 1}; }
  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& flatten_layer() {
  static const Flatten type;
  return type;
}

}  // namespace subfleet
