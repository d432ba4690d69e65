#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Client k has sizes[k] examples; input i of client k is {k, i}.
class Counted final : public Federation {
 public:
  explicit Counted(std::vector<uint32_t> sizes) : sizes_(std::move(sizes)) {}
  uint32_t clients() const override { return static_cast<uint32_t>(sizes_.size()); }
  Shape input() const override { return {2, 1, 1}; }
  uint32_t classes() const override { return 10; }
  uint32_t samples(uint32_t client) const override { return sizes_.at(client); }
  uint64_t fingerprint() const override { return 1; }
  std::string class_name(uint32_t label) const override { return std::to_string(label); }
  void read(uint32_t client, Examples& into) const override {
    into.reset(2, sizes_.at(client));
    for (uint32_t i = 0; i < sizes_.at(client); ++i) {
      const float input[] = {static_cast<float>(client), static_cast<float>(i)};
      into.append(input, static_cast<int32_t>(i % 10));
    }
  }

 private:
  std::vector<uint32_t> sizes_;
};

SplitFederation split(std::vector<uint32_t> sizes, uint64_t seed = 1, double fraction = 0.1) {
  return {std::make_unique<Counted>(std::move(sizes)), seed, fraction};
}

std::vector<float> indices(const Examples& examples) {
  std::vector<float> found;
  for (size_t i = 0; i < examples.count(); ++i) found.push_back(examples.input(i)[1]);
  return found;
}

TEST(Split, TrainAndTestAreDisjointAndCover) {
  const SplitFederation data = split({1, 2, 7, 10, 99, 250});
  for (uint32_t client = 0; client < data.clients(); ++client) {
    const std::vector<float> train = indices(data.train(client));
    const std::vector<float> test = indices(data.test(client));
    EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
    std::set<float> all(train.begin(), train.end());
    all.insert(test.begin(), test.end());
    EXPECT_EQ(all.size(), data.all().samples(client));
    EXPECT_EQ(train.size() + test.size(), data.all().samples(client));
    EXPECT_EQ(train.size(), data.train_samples(client));
  }
}

TEST(Split, TheFractionIsRoundedToNearest) {
  const SplitFederation data = split({4, 5, 10, 14, 16, 200});
  const std::vector<size_t> expected{0, 1, 1, 1, 2, 20};
  for (uint32_t client = 0; client < expected.size(); ++client) {
    EXPECT_EQ(data.test(client).count(), expected[client]);
  }
}

TEST(Split, AClientWithOneExampleTrainsWithIt) {
  for (const double fraction : {0.1, 0.5, 0.99}) {
    EXPECT_EQ(split({1}, 1, fraction).train_samples(0), 1u);
    EXPECT_EQ(split({1}, 1, fraction).train(0).count(), 1u);
    EXPECT_EQ(split({1}, 1, fraction).test(0).count(), 0u);
  }
}

TEST(Split, DependsOnSeedAndClientAlone) {
  EXPECT_EQ(indices(split({50, 60}).test(1)), indices(split({99, 60, 70}).test(1)));
  EXPECT_NE(indices(split({50, 60}, 1).test(1)), indices(split({50, 60}, 2).test(1)));
  EXPECT_NE(indices(split({60, 60}).test(0)), indices(split({60, 60}).test(1)));
}

TEST(Split, EveryExampleIsEquallyLikelyToBeTested) {
  std::vector<int> tested(20, 0);
  constexpr int kSeeds = 4000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const float index : indices(split({20}, static_cast<uint64_t>(seed)).test(0))) {
      ++tested[static_cast<size_t>(index)];
    }
  }
  for (const int count : tested) EXPECT_NEAR(count, 0.1 * kSeeds, 100);  // 5 deviations
}

TEST(Split, TheTestSetIsEveryClientsOrEnoughOfThem) {
  const SplitFederation data = split(std::vector<uint32_t>(100, 30));  // 3 each
  EXPECT_EQ(data.test_set(0).count(), 300u);
  EXPECT_EQ(data.test_set(10).count(), 12u);
  EXPECT_EQ(data.test_set(1000).count(), 300u);
  EXPECT_EQ(data.test_set(10).inputs, data.test_set(10).inputs);
  EXPECT_NE(data.test_set(10).inputs, split(std::vector<uint32_t>(100, 30), 2).test_set(10).inputs);
  const Examples chosen = data.test_set(10);
  for (size_t i = 0; i < chosen.count(); ++i) {
    const std::vector<float> own = indices(data.test(static_cast<uint32_t>(chosen.input(i)[0])));
    EXPECT_NE(std::find(own.begin(), own.end(), chosen.input(i)[1]), own.end());
  }
}

TEST(Split, RefusesAFractionOutsideZeroToOne) {
  for (const double fraction : {-0.1, 1.0, 3.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(split({10}, 1, fraction), Error) << fraction;
  }
  EXPECT_EQ(split({10}, 1, 0).train_samples(0), 10u);
}

}  // namespace
}  // namespace subfleet
