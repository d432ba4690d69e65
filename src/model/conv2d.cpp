#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/layers.h"
#include "model/window.h"

namespace subfleet {
namespace {

// Along one direction, how many (output, tap) pairs meet a real input.
double meetings(const Window& window, size_t input, size_t output) {
  double count = 0;
  for (size_t tap = 0; tap < window.kernel; ++tap) {
    // The outputs whose tap lies in the input: padding <= at * stride + tap < input + padding.
    if (tap >= input + window.padding) break;
    const size_t first =
        tap >= window.padding ? 0 : (window.padding - tap + window.stride - 1) / window.stride;
    const size_t last = std::min(output - 1, (input + window.padding - 1 - tap) / window.stride);
    if (first <= last) count += static_cast<double>(last - first + 1);
  }
  return count;
}

// PyTorch's. With `groups` it is depthwise: each channel has filters of its own, `units` / channels of them,
// whose outputs are features of that channel's unit.
class Conv2D final : public LayerType {
 public:
  std::string_view name() const override { return "conv2d"; }

  std::string_view stem() const override { return "conv"; }

  std::span<const LayerField> fields() const override {
    static constexpr std::array kFields{
        LayerField{"units", &LayerSpec::units, true}, LayerField{"kernel", &LayerSpec::kernel, true},
        LayerField{"stride", &LayerSpec::stride},     LayerField{"padding", &LayerSpec::padding},
        LayerField{"groups", &LayerSpec::groups},     LayerField{"initial", &LayerSpec::initial},
        LayerField{"bias", &LayerSpec::bias}};
    return kFields;
  }

  bool learns() const override { return true; }
  bool makes_units(const LayerSpec& spec) const override { return spec.groups == 1; }
  size_t spread(const LayerSpec& spec, const Shape& input) const override {
    return makes_units(spec) ? 1 : spec.units / input.channels;
  }

  std::string misfit(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel % 2 == 0 && !spec.padding) {
      return fmt::format(
          "kernel {} is even, and no padding keeps the size then; give one, or an odd kernel, as {} or {}",
          spec.kernel, spec.kernel - 1, spec.kernel + 1);
    }
    if (spec.groups > 1 && (spec.groups != input.channels || spec.units % input.channels != 0)) {
      return fmt::format(
          "groups = {} and units = {}, but {} channels come in; a depthwise convolution has as many groups, "
          "and units "
          "that are a multiple of them",
          spec.groups, spec.units, input.channels);
    }
    return convolution_window(spec).misfit(input);
  }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    const Window window = convolution_window(spec);
    return {spec.units, window.outputs(input.height), window.outputs(input.width)};
  }

  void shrink(LayerSpec& spec, size_t count) const override {
    if (spec.groups > 1) {
      spec.units = spec.units / spec.groups * count;
      spec.groups = count;
    } else {
      spec.units = count;
    }
  }

  std::vector<ParameterSpec> parameters(const LayerSpec& spec, const Shape& input) const override {
    const size_t window = spec.kernel * spec.kernel, columns = input.channels / spec.groups;
    std::vector<ParameterSpec> tensors{with_initial(
        spec.initial, {.name = spec.name + ".weight",
                       .shape = {spec.units, columns, spec.kernel, spec.kernel},
                       .rows = spec.units,
                       .columns = columns,
                       .inner = window,
                       .columns_follow = makes_units(spec) ? Follows::kInputs : Follows::kNothing,
                       .fan_in = columns * window,
                       .fan_out = spec.units / spec.groups * window})};
    if (spec.bias)
      tensors.push_back({.name = spec.name + ".bias", .shape = {spec.units}, .rows = spec.units});
    return tensors;
  }

  double forward_operations(const LayerSpec& spec, const Shape& input) const override {
    const Shape leaves = output(spec, input);
    const Window window = convolution_window(spec);
    const size_t channels = input.channels / spec.groups;  // that a filter sees
    return 2 * static_cast<double>(channels) * static_cast<double>(spec.units) *
           meetings(window, input.height, leaves.height) * meetings(window, input.width, leaves.width);
  }
};

}  // namespace

const LayerType& conv2d_layer() {
  static const Conv2D type;
  return type;
}

}  // namespace subfleet
