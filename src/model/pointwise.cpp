#include "model/layers.h"

namespace subfleet {
namespace {

// A function of each value alone.
class Pointwise final : public LayerType {
 public:
  explicit Pointwise(std::string_view name) : name_(name) {}

  std::string_view name() const override { return name_; }
  Shape output(const LayerSpec&, const Shape& input) const override { return input; }
  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }

 private:
  std::string_view name_;
};

}  // namespace

const LayerType& gelu_layer() {
  static const Pointwise type("gelu");
  return type;
}

const LayerType& sigmoid_layer() {
  static const Pointwise type("sigmoid");
  return type;
}

const LayerType& silu_layer() {
  static const Pointwise type("silu");
  return type;
}

const LayerType& tanh_layer() {
  static const Pointwise type("tanh");
  return type;
}

}  // namespace subfleet
