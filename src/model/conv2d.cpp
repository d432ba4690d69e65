#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/layers.h"

namespace subfleet {
namespace {

// Along one direction, how many (output, tap) pairs meet a real input.
double meetings(const LayerSpec& spec, size_t input, size_t output) {
  const size_t padding = spec.kernel / 2;
  double count = 0;
  for (size_t tap = 0; tap < spec.kernel; ++tap) {
    // The outputs whose tap lies in the input: padding <= at * stride + tap < input + padding.
    if (tap >= input + padding) break;
    const size_t first = tap >= padding ? 0 : (padding - tap + spec.stride - 1) / spec.stride;
    const size_t last = std::min(output - 1, (input + padding - 1 - tap) / spec.stride);
    if (first <= last) count += static_cast<double>(last - first + 1);
  }
  return count;
}

// PyTorch's, with padding kernel / 2: stride 1 keeps height and width.
class Conv2D final : public LayerType {
 public:
  std::string_view name() const override { return "conv2d"; }

  std::string_view stem() const override { return "conv"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{
        LayerField{"units", &LayerSpec::units, true}, LayerField{"kernel", &LayerSpec::kernel, true},
        LayerField{"stride", &LayerSpec::stride}, LayerField{"initial", &LayerSpec::initial}};
    return kFields;
  }

  std::string misfit(const LayerSpec& spec, const Shape&) const override {
    if (spec.kernel % 2 == 1) return {};
    return fmt::format(
        "kernel {} is even; the padding is the same on all sides, so it must be odd, as {} or {}",
        spec.kernel, spec.kernel - 1, spec.kernel + 1);
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
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
             .fan_out = spec.initial == Initial::kHe ? 0 : spec.units * window},
            {.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units}};
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    const Shape leaves = output(spec, input);
    return 2 * static_cast<double>(input.channels) * static_cast<double>(spec.units) *
           meetings(spec, input.height, leaves.height) * meetings(spec, input.width, leaves.width);
  }
};

}  // namespace

const LayerType& conv2d_layer() {
  static const Conv2D type;
  return type;
}

}  // namespace subfleet
