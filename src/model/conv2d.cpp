#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// PyTorch's, with padding kernel / 2: stride 1 keeps height and width.
class Conv2D final : public LayerType {
 public:
  std::string_view name() const override { return "conv2d"; }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel % 2 == 0) {
      throw bad_request(spec.name,
                        fmt::format("kernel {} is even; same padding wants an odd one", spec.kernel));
    }
    if (spec.stride == 0) throw bad_request(spec.name, "stride 0 goes nowhere; it must be 1 or more");
    return {spec.units, (input.height - 1) / spec.stride + 1, (input.width - 1) / spec.stride + 1};
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
             .fan_out = spec.he ? 0 : spec.units * window},
            {.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units}};
  }
};

}  // namespace

const LayerType& conv2d_layer() {
  static const Conv2D type;
  return type;
}

}  // namespace subfleet
