#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

class Dense final : public LayerType {
 public:
  std::string_view name() const override { return "dense"; }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (input.height != 1 || input.width != 1) {
      throw bad_request(spec.name,
                        fmt::format("a dense layer wants a flat input, not {}x{}x{}; flatten it first",
                                    input.channels, input.height, input.width));
    }
    return {spec.units, 1, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    return {{.name = spec.name + ".weight",
             .shape = {spec.units, input.channels},
             .rows = spec.units,
             .columns = input.channels,
             .columns_follow = Follows::kInputs,
             .fan_in = input.channels,
             .fan_out = spec.units},
            {.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units}};
  }
};

}  // namespace

const LayerType& dense_layer() {
  static const Dense type;
  return type;
}

}  // namespace subfleet
