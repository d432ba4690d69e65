#include "nn/training_operations.h"

#include "nn/network.h"

namespace subfleet {
namespace {

// Along one direction, how many (output, tap) pairs of a convolution meet a real input.
double meetings(size_t input, size_t output, const LayerSpec& spec) {
  size_t count = 0;
  for (size_t at = 0; at < output; ++at) {
    for (size_t tap = 0; tap < spec.kernel; ++tap) {
      const size_t from = at * spec.stride + tap;  // of the padded input
      count += from >= spec.kernel / 2 && from - spec.kernel / 2 < input ? 1 : 0;
    }
  }
  return static_cast<double>(count);
}

double forward_operations(const LayerSite& site) {
  const auto in = static_cast<double>(site.input.channels), units = static_cast<double>(site.spec.units);
  if (site.spec.type == "conv2d") {
    return 2 * in * units * meetings(site.input.height, site.output.height, site.spec) *
           meetings(site.input.width, site.output.width, site.spec);
  }
  if (site.spec.type == "dense") return 2 * static_cast<double>(site.input.size()) * units;
  if (site.spec.type == "lstm") return 2 * 4 * units * (in + units) * static_cast<double>(site.input.height);
  return 0;
}

}  // namespace

double training_operations(const ModelSpec& model) {
  double total = 0;
  bool learns_before = false;
  for (const LayerSite& site : layer_sites(model)) {
    total += forward_operations(site) * (learns_before ? 3 : 2);
    learns_before = learns_before || site.weights_count > 0;
  }
  return total;
}

}  // namespace subfleet
