#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Stride 1, zero padding that keeps height and width.
class Conv2D final : public LayerType {
 public:
  std::string_view name() const override { return "conv2d"; }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel % 2 == 0) {
      throw bad_request(spec.name,
                        fmt::format("kernel {} is even; same padding wants an odd one", spec.kernel));
    }
    return {spec.units, input.height, input.width};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    const size_t window = spec.kernel * spec.kernel;
    return {{.name = spec.name + ".weight",
             .shape = {spec.units, input.channels, spec.kernel, spec.kernel},
             .rows = spec.units,
             .columns = input.channels,
             .inner = window,
             .columns_follow = Follows::kInputs,
             .fan_in = input.channels * window,
             .fan_out = spec.units * window},
            {.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units}};
  }
};

}  // namespace

const LayerType& conv2d_layer() {
  static const Conv2D type;
  return type;
}

}  // namespace subfleet
