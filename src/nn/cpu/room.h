#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

namespace subfleet::cpu {

// Plans where the tensors of one batch size lie in a buffer that the plans of all batch sizes share.
class Room {
 public:
  explicit Room(dnnl::engine engine) : engine_(std::move(engine)) {}

  // A tensor with a place of its own.
  dnnl::memory reserve(const dnnl::memory::desc& layout);
  // The tensor itself if it has that layout, otherwise a place for a copy.
  dnnl::memory reserve_copy(const dnnl::memory& tensor, const dnnl::memory::desc& layout);
  // The same place seen as another shape.
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

// A tensor and the role (DNNL_ARG_...) that it has for a primitive.
using Arguments = std::vector<std::pair<int, dnnl::memory>>;

// A primitive with its arguments.
class Call {
 public:
  Call() = default;
  Call(dnnl::primitive primitive, Arguments arguments);
  void run(const dnnl::stream& stream) const;

 private:
  dnnl::primitive primitive_;
  Arguments arguments_;
  std::vector<dnnl_exec_arg_t> handles_;  // of the arguments, ready for oneDNN
};

// Primitives keep their scratchpads in the room, so that any thread may run them.
dnnl::primitive_attr scratchpad_in_room();

template <typename Primitive>
Call make_call(Room& room, const typename Primitive::primitive_desc& description, Arguments arguments) {
  arguments.emplace_back(DNNL_ARG_SCRATCHPAD, room.reserve(description.scratchpad_desc()));
  return {Primitive(description), std::move(arguments)};
}

// Copies a tensor into another layout; does nothing if both are one.
Call make_reorder(Room& room, const dnnl::memory& from, const dnnl::memory& to);

}  // namespace subfleet::cpu
