#include "nn/cpu/room.h"

#include <algorithm>

namespace subfleet::cpu {

dnnl::memory Room::reserve(const dnnl::memory::desc& layout) {
  dnnl::memory tensor(layout, engine_, DNNL_MEMORY_NONE);
  places_.push_back({tensor, bytes_});
  bytes_ += (layout.get_size() + kAlignment - 1) / kAlignment * kAlignment;
  return tensor;
}

dnnl::memory Room::reserve_copy(const dnnl::memory& tensor, const dnnl::memory::desc& layout) {
  return tensor.get_desc() == layout ? tensor : reserve(layout);
}

dnnl::memory Room::alias(const dnnl::memory& tensor, const dnnl::memory::desc& layout) {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return place.tensor == tensor; });
  const size_t offset = found->offset;
  dnnl::memory other(layout, engine_, DNNL_MEMORY_NONE);
  places_.push_back({other, offset});
  return other;
}

void Room::bind(std::byte* buffer) {
  for (const Place& place : places_) place.tensor.set_data_handle(buffer + place.offset);
}

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

dnnl::primitive_attr scratchpad_in_room() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Call make_reorder(Room& room, const dnnl::memory& from, const dnnl::memory& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc description(from, to, scratchpad_in_room());
  return make_call<dnnl::reorder>(room, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace subfleet::cpu
