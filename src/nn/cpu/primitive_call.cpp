#include "nn/cpu/primitive_call.h"

namespace subfleet::cpu {

Call::Call(dnnl::primitive primitive, Arguments arguments)
    : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {
  for (const auto& [role, tensor] : arguments_) handles_.push_back({role, tensor.get()});
}

void Call::run(const dnnl::stream& stream) const {
  if (!primitive_) return;
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream.get(),
                                                 static_cast<int>(handles_.size()), handles_.data()),
                          "a primitive failed");
}

dnnl::primitive_attr scratchpad_in_buffer() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Call make_reorder(BufferPlan& buffer, const dnnl::memory& from, const dnnl::memory& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc description(from, to, scratchpad_in_buffer());
  return make_call<dnnl::reorder>(buffer, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace subfleet::cpu
