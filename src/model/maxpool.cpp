#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Windows that do not overlap; what does not fill a window is left out (PyTorch's and Keras' "valid").
class MaxPool final : public LayerType {
 public:
  std::string_view name() const override { return "maxpool"; }

  Shape output(const LayerSpec& spec, const Shape& input) const override {
    if (spec.kernel == 0 || spec.kernel > input.height || spec.kernel > input.width) {
      throw bad_request("maxpool", fmt::format("window {} does not fit into {}x{}", spec.kernel, input.height,
                                               input.width));
    }
    return {input.channels, input.height / spec.kernel, input.width / spec.kernel};
  }
};

}  // namespace

const LayerType& maxpool_layer() {
  static const MaxPool type;
  return type;
}

}  // namespace subfleet
