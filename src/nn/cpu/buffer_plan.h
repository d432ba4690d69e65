#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

namespace subfleet::cpu {

// Plans where the tensors of one batch size lie in a buffer. All batch sizes share the buffer.
class BufferPlan {
 public:
  explicit BufferPlan(dnnl::engine engine) : engine_(std::move(engine)) {}

  // Reserves a place of its own for a tensor.
  dnnl::memory reserve(const dnnl::memory::desc& layout);
  // The tensor itself if it has that layout, otherwise a place for a copy.
  dnnl::memory reserve_copy(const dnnl::memory& tensor, const dnnl::memory::desc& layout);
  // The same place, seen as another shape.
  dnnl::memory alias(const dnnl::memory& tensor, const dnnl::memory::desc& layout);

  const dnnl::engine& engine() const { return engine_; }
  size_t bytes() const { return bytes_; }
  // Puts every tensor into a buffer of at least bytes(), aligned to kAlignment.
  void bind(std::byte* buffer);

  static constexpr size_t kAlignment = 64;

 private:
  struct Place {
    dnnl::memory tensor;
    size_t offset = 0;
  };
  dnnl::engine engine_;
  size_t bytes_ = 0;
  std::vector<Place> places_;
};

}  // namespace subfleet::cpu
