#include "nn/cpu/product.h"

#include <oneapi/dnnl/dnnl.h>

#include <new>

#include "subfleet/error.h"

namespace subfleet::cpu {

void multiply(const MatrixProduct& p) {
  const auto dim = [](size_t size) { return static_cast<dnnl_dim_t>(size); };
  const dnnl_status_t status =
      dnnl_sgemm(p.transpose_a, p.transpose_b, dim(p.m), dim(p.n), dim(p.k), p.alpha, p.a, dim(p.stride_a),
                 p.b, dim(p.stride_b), p.beta, p.c, dim(p.stride_c));
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success) throw failure("oneDNN", "a matrix product failed");
}

}  // namespace subfleet::cpu
