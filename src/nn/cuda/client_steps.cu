#include "nn/cuda/client_steps.h"

namespace subfleet::cuda {
namespace {

constexpr unsigned kThreads = 256;

// Grid: values of a job, jobs.
template <bool kMomentum, bool kProximal>
__global__ void finish_steps(ClientRule rule, ClientArrays arrays, size_t size, size_t stride) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < size) rule.finish<kMomentum, kProximal>(arrays, blockIdx.y * stride + i);
}

}  // namespace

void ClientSteps::reserve(const ClientRule& rule, size_t values) {
  rule_ = rule;
  if (rule.is_plain()) return;
  before_.grow(values);
  if (rule.momentum != 0) movement_.grow(values);
  if (rule.proximal != 0) given_.grow(values);
}

void ClientSteps::begin(const Step& step, size_t size) {
  if (rule_.is_plain()) return;
  const size_t pitch = step.stride * sizeof(float);
  const auto copy_to = [&](Buffer<float>& to) {
    check(cudaMemcpy2DAsync(to.data(), pitch, step.weights, pitch, size * sizeof(float), step.jobs,
                            cudaMemcpyDeviceToDevice, step.stream),
          "copying the given weights");
  };
  copy_to(before_);
  if (rule_.momentum != 0) movement_.zero(step.stream);
  if (rule_.proximal != 0) copy_to(given_);
}

void ClientSteps::finish(const Step& step, size_t size) {
  if (rule_.is_plain()) return;
  const ClientArrays arrays{step.weights, before_.data(), movement_.data(), given_.data()};
  const dim3 grid(static_cast<unsigned>((size + kThreads - 1) / kThreads), static_cast<unsigned>(step.jobs));
  rule_.with_flags([&](auto momentum, auto proximal) {
    finish_steps<momentum, proximal><<<grid, kThreads, 0, step.stream>>>(rule_, arrays, size, step.stride);
  });
  check_launch("the clients' steps");
}

}  // namespace subfleet::cuda
