#include "nn/cuda/client_steps.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "nn/client_steps.h"
#include "nn/client_steps_testing.h"
#include "nn/cuda/gpu_testing.h"

namespace subfleet {
namespace {

constexpr size_t kJobs = 3, kSize = 300, kStride = 320;

// Weight i of the job before its first step, and its gradient in a step.
float weight_at(size_t job, size_t i) { return 0.01f * static_cast<float>((job * 31 + i * 17) % 101) - 0.5f; }
float gradient_at(size_t step, size_t job, size_t i) { return weight_at(job + 5 * step, i * 3); }

// The host's weights of one job after so many steps.
std::vector<float> stepped_by_host(const LocalTraining& how, size_t job, size_t count) {
  std::vector<float> weights(kSize);
  for (size_t i = 0; i < kSize; ++i) weights[i] = weight_at(job, i);
  ClientSteps steps;
  steps.begin(how, weights);
  for (size_t step = 0; step < count; ++step) {
    for (size_t i = 0; i < kSize; ++i) weights[i] -= how.client_lr * gradient_at(step, job, i);
    steps.finish(weights);
  }
  return weights;
}

// The last job has one step less than the others.
TEST(CudaClientSteps, HaveTheBitsOfTheHost) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  constexpr size_t kSteps = 4;
  cuda::Stream stream;
  cuda::ClientSteps steps;
  cuda::Buffer<float> on_gpu(kJobs * kStride);
  for (const LocalTraining& how : trainings_beyond_plain_sgd()) {
    std::vector<float> weights(kJobs * kStride, 7.0f);
    for (size_t job = 0; job < kJobs; ++job) {
      for (size_t i = 0; i < kSize; ++i) weights[job * kStride + i] = weight_at(job, i);
    }
    on_gpu.upload(weights, stream);
    cuda::Step step{.stream = stream,
                    .jobs = kJobs,
                    .rows = 1,
                    .weights = on_gpu.data(),
                    .stride = kStride,
                    .client_lr = how.client_lr};
    steps.reserve(ClientRule(how), weights.size());
    steps.begin(step, kSize);
    for (size_t number = 0; number < kSteps; ++number) {
      step.jobs = number + 1 < kSteps ? kJobs : kJobs - 1;
      on_gpu.download(weights, stream);
      for (size_t job = 0; job < static_cast<size_t>(step.jobs); ++job) {
        for (size_t i = 0; i < kSize; ++i)
          weights[job * kStride + i] -= how.client_lr * gradient_at(number, job, i);
      }
      on_gpu.upload(weights, stream);
      steps.finish(step, kSize);
    }
    on_gpu.download(weights, stream);
    for (size_t job = 0; job < kJobs; ++job) {
      const auto first = weights.begin() + static_cast<std::ptrdiff_t>(job * kStride);
      const std::vector<float> expected = stepped_by_host(how, job, job + 1 < kJobs ? kSteps : kSteps - 1);
      EXPECT_EQ(std::vector<float>(first, first + kSize), expected) << "job " << job;
      EXPECT_EQ(first[kSize], 7.0f) << "what lies between two jobs";
    }
  }
}

}  // namespace
}  // namespace subfleet
