#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// A row of the weights for every symbol: symbol s, given as the number s, becomes row s.
class Embedding final : public LayerType {
 public:
  std::string_view name() const override { return "embedding"; }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (input.channels != 1 || input.width != 1) {
      throw bad_request(spec.name, fmt::format("an embedding wants 1 symbol per step, not {}x{}x{}",
                                               input.channels, input.height, input.width));
    }
    if (spec.symbols == 0) throw bad_request(spec.name, "an embedding wants at least 1 symbol");
    return {spec.units, input.height, 1};
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape&) const override {
    return {{.name = spec.name + ".weight",
             .shape = {spec.symbols, spec.units},
             .rows = spec.symbols,
             .columns = spec.units,
             .rows_follow = Follows::kNothing,
             .columns_follow = Follows::kUnits,
             .fan_in = spec.symbols,
             .fan_out = spec.units}};
  }
};

}  // namespace

const LayerType& embedding_layer() {
  static const Embedding type;
  return type;
}

}  // namespace subfleet
