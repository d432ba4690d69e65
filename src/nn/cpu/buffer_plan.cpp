#include "nn/cpu/buffer_plan.h"

#include <algorithm>

namespace subfleet::cpu {

dnnl::memory BufferPlan::reserve(const dnnl::memory::desc& layout) {
  dnnl::memory tensor(layout, engine_, DNNL_MEMORY_NONE);
  places_.push_back({tensor, bytes_});
  bytes_ += (layout.get_size() + kAlignment - 1) / kAlignment * kAlignment;
  return tensor;
}

dnnl::memory BufferPlan::reserve_copy(const dnnl::memory& tensor, const dnnl::memory::desc& layout) {
  return tensor.get_desc() == layout ? tensor : reserve(layout);
}

dnnl::memory BufferPlan::alias(const dnnl::memory& tensor, const dnnl::memory::desc& layout) {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return place.tensor == tensor; });
  const size_t offset = found->offset;
  dnnl::memory other(layout, engine_, DNNL_MEMORY_NONE);
  places_.push_back({other, offset});
  return other;
}

void BufferPlan::bind(std::byte* buffer) {
  for (const Place& place : places_) place.tensor.set_data_handle(buffer + place.offset);
}

}  // namespace subfleet::cpu
