#include "data/label_skew.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace subfleet {
namespace {

constexpr uint32_t kClasses = 10;

std::vector<uint8_t> balanced_labels(size_t count) {
  std::vector<uint8_t> labels(count);
  for (size_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i % kClasses);
  return labels;
}

// The share of a client's commonest class, averaged over the clients.
double purity(const std::vector<std::vector<uint32_t>>& clients, const std::vector<uint8_t>& labels) {
  double sum = 0;
  for (const auto& indices : clients) {
    std::vector<int> counts(kClasses, 0);
    for (const uint32_t index : indices) ++counts[labels[index]];
    sum += *std::max_element(counts.begin(), counts.end()) / static_cast<double>(indices.size());
  }
  return sum / static_cast<double>(clients.size());
}

TEST(LabelSkew, EveryExampleIsDealtOnceToClientsOfEqualSize) {
  for (const double alpha : {0.001, 0.1, 1.0, 1000.0}) {
    for (const size_t count : {7u, 40u, 1003u}) {
      const std::vector<uint8_t> labels = balanced_labels(count);
      const auto clients =
          deal_by_label(labels, {.clients = 7, .classes = kClasses, .alpha = alpha, .seed = 3});
      ASSERT_EQ(clients.size(), 7u);
      std::vector<uint32_t> dealt;
      for (const auto& indices : clients) {
        EXPECT_GE(indices.size(), count / 7);
        EXPECT_LE(indices.size(), count / 7 + 1);
        EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
        dealt.insert(dealt.end(), indices.begin(), indices.end());
      }
      std::sort(dealt.begin(), dealt.end());
      std::vector<uint32_t> all(count);
      std::iota(all.begin(), all.end(), 0u);
      EXPECT_EQ(dealt, all) << alpha << " " << count;
    }
  }
}

TEST(LabelSkew, AlphaSaysHowManyClassesAClientHas) {
  const std::vector<uint8_t> labels = balanced_labels(20'000);
  const auto purity_of = [&](double alpha) {
    return purity(deal_by_label(labels, {.clients = 50, .classes = kClasses, .alpha = alpha, .seed = 1}),
                  labels);
  };
  EXPECT_GT(purity_of(0.001), 0.9);
  EXPECT_LT(purity_of(1e6), 0.17);  // 400 draws of 10 classes: 0.1 and what the largest count adds
  EXPECT_GT(purity_of(0.1), purity_of(1.0) + 0.1);
  EXPECT_GT(purity_of(1.0), purity_of(100.0) + 0.1);
}

TEST(LabelSkew, SharesHaveTheVarianceOfTheDirichletDistribution) {
  // The share of class 0 of a symmetric Dirichlet(a) over K classes: variance (1/K)(1 - 1/K) / (K a + 1). Few
  // clients of a large pool, so that no class runs out.
  const double alpha = 0.7;
  double sum = 0, squares = 0, count = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<uint8_t> labels = balanced_labels(20'000);
    const auto clients =
        deal_by_label(labels, {.clients = 20, .classes = kClasses, .alpha = alpha, .seed = seed});
    for (size_t client = 0; client < 5; ++client) {
      double zeros = 0;
      for (const uint32_t index : clients[client]) zeros += labels[index] == 0 ? 1 : 0;
      const double share = zeros / static_cast<double>(clients[client].size());
      sum += share;
      squares += share * share;
      ++count;
    }
  }
  const double mean = sum / count, variance = squares / count - mean * mean;
  const double expected = 0.09 / (10 * alpha + 1);
  EXPECT_NEAR(mean, 0.1, 4 * std::sqrt(expected / count));
  EXPECT_NEAR(variance, expected, 0.3 * expected);
}

TEST(LabelSkew, DependsOnTheSeedAlone) {
  const std::vector<uint8_t> labels = balanced_labels(500);
  const LabelSkew skew{.clients = 9, .classes = kClasses, .alpha = 0.3, .seed = 4};
  LabelSkew other = skew;
  other.seed = 5;
  EXPECT_EQ(deal_by_label(labels, skew), deal_by_label(labels, skew));
  EXPECT_NE(deal_by_label(labels, skew), deal_by_label(labels, other));
}

}  // namespace
}  // namespace subfleet
