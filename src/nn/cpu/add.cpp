#include <vector>

#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// In the layout of the first value; the gradient of the sum is that of every value.
class Add final : public Layer {
 public:
  Add(BufferPlan& buffer, const PlanSite& site) {
    std::vector<Flow> inputs{site.input};
    inputs.insert(inputs.end(), site.more.begin(), site.more.end());
    const dnnl::memory::desc layout = site.input.values.get_desc();
    output_.values = buffer.reserve(layout);
    std::vector<dnnl::memory::desc> layouts;
    Arguments arguments{{DNNL_ARG_DST, output_.values}};
    for (const Flow& input : inputs) {
      arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(layouts.size()), input.values);
      layouts.push_back(input.values.get_desc());
    }
    const dnnl::sum::primitive_desc sum(layout, std::vector<float>(inputs.size(), 1.0f), layouts,
                                        buffer.engine(), scratchpad_in_buffer());
    forward_ = make_call<dnnl::sum>(buffer, sum, arguments);
    for (const Flow& input : inputs) {
      if (!input.gradient) continue;
      if (!output_.gradient) output_.gradient = buffer.reserve_copy(input.gradient, layout);
      backward_.push_back(make_reorder(buffer, output_.gradient, input.gradient));
    }
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float>) override { forward_.run(stream); }

  void backward(const dnnl::stream& stream, std::span<float>, float) override {
    for (const Call& call : backward_) call.run(stream);
  }

 private:
  Flow output_;
  Call forward_;
  std::vector<Call> backward_;
};

}  // namespace

std::unique_ptr<Layer> make_add(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Add>(buffer, site);
}

}  // namespace subfleet::cpu
