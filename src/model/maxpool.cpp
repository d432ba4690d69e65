#include <array>

#include "model/layers.h"
#include "model/window.h"

namespace subfleet {
namespace {

// Padding counts as less than any value.
class MaxPool final : public LayerType {
 public:
  std::string_view name() const override { return "maxpool"; }
  bool passes_factors() const override { return true; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"kernel", &LayerSpec::kernel, true}, kPoolStride,
                                        kPadding};
    return kFields;
  }

  std::string misfit(const LayerSpec& spec, const Shape& input) const override {
    return pool_misfit(spec, input);
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override { return pool_output(spec, input); }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& maxpool_layer() {
  static const MaxPool type;
  return type;
}

}  // namespace subfleet
