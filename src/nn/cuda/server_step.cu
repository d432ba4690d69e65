#include <algorithm>
#include <type_traits>
#include <utility>

#include "nn/cuda/device.h"
#include "nn/cuda/server_step.h"
#include "optimizers/rules.h"
#include "optimizers/weight_math.h"

namespace subfleet::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <typename Rule, typename... Moments>
__global__ void move_weights(Rule rule, Averaging averaging, size_t size, const int64_t* sums,
                             const uint32_t* holders, float* weights, uint32_t* not_finite,
                             Moments*... moments) {
  const size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  rule(sums[i], averaging(holders[i]), weights[i], moments[i]...);
  if (is_finite(weights[i]) == 0) *not_finite = 1;
}

// A block sums one range, a thread is a lane.
__global__ void squared_means_of_ranges(Averaging averaging, size_t size, const int64_t* sums,
                                        const uint32_t* holders, double examples, double* ranges) {
  __shared__ double lanes[kNormLanes];
  const size_t begin = size_t{blockIdx.x} * kWeightRange;
  const size_t end = begin + kWeightRange < size ? begin + kWeightRange : size;
  double sum = 0;
#pragma unroll 8
  for (size_t i = begin + threadIdx.x; i < end; i += kNormLanes)
    sum += squared_mean(sums[i], averaging(holders[i]), examples);
  lanes[threadIdx.x] = sum;
  for (unsigned half = kNormLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) lanes[threadIdx.x] += lanes[threadIdx.x + half];
  }
  if (threadIdx.x == 0) ranges[blockIdx.x] = lanes[0];
}

template <typename Rule>
class RuleStep final : public ServerStep {
 public:
  explicit RuleStep(const OptimizerOptions& options)
      : options_(options), names_(Rule::kMoments.begin(), Rule::kMoments.end()) {}

  const std::vector<std::string>& moment_names() const override { return names_; }

  void run(const StepArrays& arrays, const ServerRound& round, cudaStream_t stream) override {
    if (arrays.size == 0) return;
    const auto rule =
        rule_of_round<Rule>(options_, round, [&] { return squared_norm_of_mean(arrays, stream); });
    move(rule, averaging(arrays), arrays, stream, std::make_index_sequence<Rule::kMoments.size()>());
  }

 private:
  Averaging averaging(const StepArrays& arrays) const {
    return {options_.mean == "all", static_cast<uint32_t>(arrays.examples)};
  }

  template <typename OfRound, size_t... kIndex>
  static void move(const OfRound& rule, const Averaging& averaging, const StepArrays& arrays,
                   cudaStream_t stream, std::index_sequence<kIndex...>) {
    static_assert(std::is_trivially_copyable_v<OfRound>, "a rule is copied to the GPU");
    const auto blocks = static_cast<unsigned>((arrays.size + kThreads - 1) / kThreads);
    move_weights<<<blocks, kThreads, 0, stream>>>(rule, averaging, arrays.size, arrays.sums, arrays.holders,
                                                  arrays.weights, arrays.not_finite,
                                                  arrays.moments[kIndex]...);
    check_launch("moving the weights");
  }

  double squared_norm_of_mean(const StepArrays& arrays, cudaStream_t stream) {
    const size_t count = weight_range_count(arrays.size);
    ranges_.grow(count);
    squared_means_of_ranges<<<static_cast<unsigned>(count), kNormLanes, 0, stream>>>(
        averaging(arrays), arrays.size, arrays.sums, arrays.holders,
        static_cast<double>(std::max<uint64_t>(1, arrays.examples)), ranges_.data());
    check_launch("the norm of the mean update");
    std::vector<double> ranges(count);
    ranges_.download(ranges, stream);
    return sum_of_ranges(ranges);
  }

  OptimizerOptions options_;
  std::vector<std::string> names_;
  Buffer<double> ranges_;
};

}  // namespace

std::unique_ptr<ServerStep> make_server_step(const OptimizerOptions& options) {
  return make_from_rule<ServerStep>(
      options, [&]<typename Rule>() { return std::make_unique<RuleStep<Rule>>(options); });
}

}  // namespace subfleet::cuda
