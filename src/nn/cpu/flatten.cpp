#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// Brings a layout of the convolutions' liking into plain C,H,W order and sees it as a vector.
class Flatten final : public WeightlessLayer {
 public:
  Flatten(Room& room, const PlanSite& site) {
    const auto plain = plain_layout(site.batch, site.site.input);
    const auto flat = plain_layout(site.batch, site.site.output);
    const dnnl::memory values = room.reserve_copy(site.input.values, plain);
    forward_ = make_reorder(room, site.input.values, values);
    output_.values = room.alias(values, flat);
    if (!site.input.gradient) return;
    const dnnl::memory gradient = room.reserve_copy(site.input.gradient, plain);
    backward_ = make_reorder(room, gradient, site.input.gradient);
    output_.gradient = room.alias(gradient, flat);
  }
};

}  // namespace

std::unique_ptr<Layer> make_flatten(Room& room, const PlanSite& site) {
  return std::make_unique<Flatten>(room, site);
}

}  // namespace subfleet::cpu
