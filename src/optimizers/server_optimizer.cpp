#include "subfleet/server_optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "optimizers/own_optimizer.h"
#include "optimizers/rules.h"
#include "optimizers/weight_math.h"
#include "optimizers/weight_ranges.h"

namespace subfleet {
namespace {

double squared_norm_of_mean(const PartialSum& updates, const Averaging& averaging, ThreadPool& pool) {
  const int64_t* sums = updates.sums().data();
  const uint32_t* holders = updates.holders().data();
  const auto examples = static_cast<double>(std::max<uint64_t>(1, updates.examples()));
  std::vector<double> ranges(weight_range_count(updates.size()), 0.0);
  for_weight_ranges(updates.size(), pool, [&](size_t begin, size_t end) {
    std::array<double, kNormLanes> lanes{};
    for (size_t first = begin; first < end; first += kNormLanes) {
      const size_t count = std::min(kNormLanes, end - first);
      for (size_t i = 0; i < count; ++i)
        lanes[i] += squared_mean(sums[first + i], averaging(holders[first + i]), examples);
    }
    for (size_t half = kNormLanes / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    ranges[begin / kWeightRange] = lanes[0];
  });
  return sum_of_ranges(ranges);
}

// A rule over all weights in this process' memory.
template <typename Rule>
class HostOptimizer final : public ServerOptimizer {
 public:
  HostOptimizer(OptimizerOptions options, size_t weights) : options_(std::move(options)) {
    for (auto& moment : moments_) moment.assign(weights, 0.0f);
  }

  bool step(std::span<float> weights, const PartialSum& updates, const ServerRound& round,
            ThreadPool& pool) override {
    const Averaging averaging{options_.mean == "all", static_cast<uint32_t>(updates.examples())};
    const auto rule =
        rule_of_round<Rule>(options_, round, [&] { return squared_norm_of_mean(updates, averaging, pool); });
    return move(rule, averaging, weights, updates, pool, std::make_index_sequence<Rule::kMoments.size()>());
  }

  std::vector<MutableMoment> moments() override {
    std::vector<MutableMoment> all;
    for (size_t i = 0; i < moments_.size(); ++i) all.push_back({std::string(Rule::kMoments[i]), moments_[i]});
    return all;
  }

 private:
  template <typename OfRound, size_t... kIndex>
  bool move(const OfRound& rule, const Averaging& averaging, std::span<float> weights,
            const PartialSum& updates, ThreadPool& pool, std::index_sequence<kIndex...>) {
    return all_weight_ranges(weights.size(), pool, [&](size_t begin, size_t end) {
      return move_range(rule, averaging, updates.sums().data(), updates.holders().data(), begin, end,
                        weights.data(), moments_[kIndex].data()...);
    });
  }

  template <typename OfRound, typename... Moments>
  static bool move_range(const OfRound rule, const Averaging averaging, const int64_t* sums,
                         const uint32_t* holders, size_t begin, size_t end, float* weights,
                         Moments*... moments) {
    uint32_t finite = 1;
#pragma omp simd reduction(& : finite)
    for (size_t i = begin; i < end; ++i) {
      rule(sums[i], averaging(holders[i]), weights[i], moments[i]...);
      finite &= is_finite(weights[i]);
    }
    return finite != 0;
  }

  OptimizerOptions options_;
  std::array<std::vector<float>, Rule::kMoments.size()> moments_;
};

struct Traits {
  std::string name;
  double default_lr;
  bool wants_squared_norms;
};

std::vector<Traits> all_traits() {
  std::vector<Traits> all;
  for_each_rule([&]<typename Rule>() {
    all.push_back({std::string(Rule::kName), Rule::kDefaultLr, Rule::kWantsSquaredNorms});
  });
  for (const auto& own : own_optimizers()) all.push_back({own->name(), own->default_lr(), false});
  return all;
}

Traits find(std::string_view name) {
  for (const Traits& traits : all_traits()) {
    if (traits.name == name) return traits;
  }
  throw unknown_name("server.optimizer", name, server_optimizer_names());
}

}  // namespace

std::vector<std::string> server_optimizer_names() {
  std::vector<std::string> names;
  for (const Traits& traits : all_traits()) names.push_back(traits.name);
  return names;
}

bool wants_squared_norms(std::string_view optimizer) { return find(optimizer).wants_squared_norms; }

double kept_average(double decay, uint32_t round) {
  const double power = std::pow(decay, round);
  return round <= 1 ? 0 : (decay - power) / (1 - power);
}

double default_server_lr(std::string_view optimizer) { return find(optimizer).default_lr; }

std::unique_ptr<ServerOptimizer> make_server_optimizer(const OptimizerOptions& options, size_t weights) {
  if (auto own = own_optimizer(options.optimizer)) return host_optimizer(std::move(own), options, weights);
  return make_from_rule<ServerOptimizer>(
      options, [&]<typename Rule>() { return std::make_unique<HostOptimizer<Rule>>(options, weights); });
}

}  // namespace subfleet
