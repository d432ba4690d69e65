#include "model/layers.h"

namespace subfleet {
namespace {

// Global: the mean over all positions of a channel.
class AvgPool final : public LayerType {
 public:
  std::string_view name() const override { return "avgpool"; }
  Shape output(const LayerSpec&, const Shape& input) const override { return {input.channels, 1, 1}; }
  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& avgpool_layer() {
  static const AvgPool type;
  return type;
}

}  // namespace subfleet
