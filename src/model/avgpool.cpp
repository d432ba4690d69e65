#include <array>

#include "model/layers.h"
#include "model/window.h"

namespace subfleet {
namespace {

// Without a kernel it is global: the mean over all positions of a channel. Padding counts as zeros.
class AvgPool final : public LayerType {
 public:
  std::string_view name() const override { return "avgpool"; }
  bool passes_factors() const override { return true; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"kernel", &LayerSpec::kernel}, kPoolStride, kPadding};
    return kFields;
  }

  std::string misfit(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel > 0) return pool_misfit(spec, input);
    if (!spec.pool_stride && !spec.padding) return {};
    return "stride and padding need a kernel; without one, the mean is over all positions";
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel == 0) return {input.channels, 1, 1};
    return pool_output(spec, input);
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& avgpool_layer() {
  static const AvgPool type;
  return type;
}

}  // namespace subfleet
