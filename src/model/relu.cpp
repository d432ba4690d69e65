#include "model/layers.h"

namespace subfleet {
namespace {

class Relu final : public LayerType {
 public:
  std::string_view name() const override { return "relu"; }
  bool passes_factors() const override { return true; }
  Shape output(const LayerSpec&, const Shape& input) const override { return input; }
  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& relu_layer() {
  static const Relu type;
  return type;
}

}  // namespace subfleet
