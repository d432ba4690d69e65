#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// Windows that do not overlap; what does not fill a window is left out (PyTorch's and Keras' "valid").
class MaxPool final : public LayerType {
 public:
  std::string_view name() const override { return "maxpool"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"kernel", &LayerSpec::kernel, true}};
    return kFields;
  }

  std::string misfit(const LayerSpec& spec, const Shape& input) const override {
    const size_t most = std::min(input.height, input.width);
    if (spec.kernel <= most) return {};
    return fmt::format("a window of {0}x{0} does not fit into {1}x{2}; kernel can be at most {3}",
                       spec.kernel, input.height, input.width, most);
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    return {input.channels, input.height / spec.kernel, input.width / spec.kernel};
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& maxpool_layer() {
  static const MaxPool type;
  return type;
}

}  // namespace subfleet
