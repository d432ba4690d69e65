#include "model/layers.h"

namespace subfleet {
namespace {

// C,H,W order: a kept channel keeps its height * width values.
class Flatten final : public LayerType {
 public:
  std::string_view name() const override { return "flatten"; }
  Shape output(const LayerSpec&, const Shape& input) const override { return {input.size(), 1, 1}; }
  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }

  std::vector<uint32_t> pass(const Shape& input, const std::vector<uint32_t>& kept) const override {
    const auto plane = static_cast<uint32_t>(input.height * input.width);
    std::vector<uint32_t> values;
    values.reserve(kept.size() * plane);
    for (const uint32_t channel : kept) {
      for (uint32_t i = 0; i < plane; ++i) values.push_back(channel * plane + i);
    }
    return values;
  }
};

}  // namespace

const LayerType& flatten_layer() {
  static const Flatten type;
  return type;
}

}  // namespace subfleet
