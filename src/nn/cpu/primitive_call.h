#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "nn/cpu/buffer_plan.h"

namespace subfleet::cpu {

// A tensor and its role (DNNL_ARG_...) in a primitive.
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

// Puts a primitive's scratchpad into the buffer, so that any thread may run it.
dnnl::primitive_attr scratchpad_in_buffer();

// Where mmap has no memory left for the code that oneDNN 2.6 generates, here or in its dnnl_sgemm, it writes
// that code to address 0, and the process ends with SIGSEGV. Memory that the C library finds lacking is an
// error.
template <typename Primitive>
Call make_call(BufferPlan& buffer, const typename Primitive::primitive_desc& description,
               Arguments arguments) {
  arguments.emplace_back(DNNL_ARG_SCRATCHPAD, buffer.reserve(description.scratchpad_desc()));
  return {Primitive(description), std::move(arguments)};
}

// Copies a tensor into another layout; does nothing if both have the same layout.
Call make_reorder(BufferPlan& buffer, const dnnl::memory& from, const dnnl::memory& to);

}  // namespace subfleet::cpu
