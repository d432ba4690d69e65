#include "data/label_skew.h"

#include <algorithm>
#include <cmath>

#include "subfleet/random.h"

namespace subfleet {
namespace {

// The logarithm of a Gamma(shape, 1) variate: Marsaglia and Tsang 2000 for shape + 1, times U^(1 / shape). In
// logarithms because for small shapes most variates are too small for a double.
double log_gamma_variate(Random& random, double shape) {
  const double d = shape + 1 - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  const double boost = std::log(1 - random.uniform()) / shape;
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random.uniform();
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v) + boost;
  }
}

// Not normalised; the largest is 1.
std::vector<double> dirichlet_mix(Random& random, uint32_t classes, double alpha) {
  std::vector<double> mix(classes);
  for (double& share : mix) share = log_gamma_variate(random, alpha);
  const double largest = *std::max_element(mix.begin(), mix.end());
  for (double& share : mix) share = std::exp(share - largest);
  return mix;
}

using Pools = std::vector<std::vector<uint32_t>>;  // the examples of each class that are left

// Draws a class that has examples left, by the mix; if the mix has no such class left, uniformly.
uint32_t draw_class(Random& random, std::vector<double>& mix, const Pools& pools) {
  double total = 0;
  for (size_t label = 0; label < mix.size(); ++label) {
    if (pools[label].empty()) mix[label] = 0;
    total += mix[label];
  }
  if (total == 0) {
    for (size_t label = 0; label < mix.size(); ++label) mix[label] = pools[label].empty() ? 0 : 1;
    for (const double share : mix) total += share;
  }
  double left = random.uniform() * total;
  uint32_t chosen = 0;
  for (uint32_t label = 0; label < mix.size(); ++label) {
    if (mix[label] == 0) continue;
    chosen = label;
    left -= mix[label];
    if (left < 0) break;
  }
  return chosen;
}

}  // namespace

std::vector<std::vector<uint32_t>> deal_by_label(std::span<const uint8_t> labels, const LabelSkew& skew) {
  Pools pools(skew.classes);
  for (uint32_t i = 0; i < labels.size(); ++i) pools[labels[i]].push_back(i);
  Random order({.seed = skew.seed, .client = skew.clients, .purpose = Purpose::kLabelSkew});
  for (std::vector<uint32_t>& pool : pools) order.shuffle(std::span(pool));

  std::vector<std::vector<uint32_t>> clients(skew.clients);
  for (uint32_t client = 0; client < skew.clients; ++client) {
    const size_t size = labels.size() / skew.clients + (client < labels.size() % skew.clients ? 1 : 0);
    Random random({.seed = skew.seed, .client = client, .purpose = Purpose::kLabelSkew});
    std::vector<double> mix = dirichlet_mix(random, skew.classes, skew.alpha);
    while (clients[client].size() < size) {
      std::vector<uint32_t>& pool = pools[draw_class(random, mix, pools)];
      clients[client].push_back(pool.back());
      pool.pop_back();
    }
    std::sort(clients[client].begin(), clients[client].end());
  }
  return clients;
}

}  // namespace subfleet
