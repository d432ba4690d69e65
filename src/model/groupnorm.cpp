#include <fmt/format.h>

#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// Wu and He, 2018: mean 0 and variance 1 of each example's groups of channels, then a factor and a bias per
// channel. In a sub-model, over the kept channels of each of the whole model's groups
// (SubModel::channel_groups()).
class GroupNorm final : public LayerType {
 public:
  std::string_view name() const override { return "groupnorm"; }
  std::string_view stem() const override { return "norm"; }
  bool learns() const override { return true; }
  bool has_channel_groups() const override { return true; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{LayerField{"groups", &LayerSpec::groups, true}};
    return kFields;
  }

  std::string misfit_of_whole(const LayerSpec& spec, const Shape& input) const override {
    if (input.channels % spec.groups == 0) return {};
    size_t below = spec.groups;
    while (input.channels % below != 0) --below;
    return fmt::format("{} channels cannot be {} groups of the same size; {} would do", input.channels,
                       spec.groups, below);
  }

  Shape output(const LayerSpec&, const Shape& input) const override { return input; }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    return normalisation_parameters(spec, input);
  }

  double forward_operations(const LayerSpec&, const Shape&) const override { return 0; }
};

}  // namespace

const LayerType& groupnorm_layer() {
  static const GroupNorm type;
  return type;
}

}  // namespace subfleet
