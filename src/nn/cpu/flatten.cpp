#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// Brings a layout of the convolutions' liking into plain C,H,W order and sees it as a vector.
class Flatten final : public WeightlessLayer {
 public:
  Flatten(BufferPlan& buffer, const PlanSite& site) {
    const auto plain = plain_layout(site.batch, site.site.input);
    const auto flat = plain_layout(site.batch, site.site.output);
    const dnnl::memory values = buffer.reserve_copy(site.input.values, plain);
    forward_ = make_reorder(buffer, site.input.values, values);
    output_.values = buffer.alias(values, flat);
    output_.shared = site.input.shared && values == site.input.values;
    if (!site.input.gradient) return;
    const dnnl::memory gradient = buffer.reserve_copy(site.input.gradient, plain);
    backward_ = make_reorder(buffer, gradient, site.input.gradient);
    output_.gradient = buffer.alias(gradient, flat);
  }
};

}  // namespace

std::unique_ptr<Layer> make_flatten(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Flatten>(buffer, site);
}

}  // namespace subfleet::cpu
