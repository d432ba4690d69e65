#include "subfleet/partial_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

struct Client {
  SubModel held;
  std::vector<float> whole, trained;
  uint32_t examples;
};

std::vector<Client> random_clients(const ModelSpec& model, size_t count) {
  Random random({.seed = 5});
  const size_t weights = parameter_count(model);
  std::vector<Client> clients;
  for (size_t k = 0; k < count; ++k) {
    std::vector<uint32_t> units(model.layers[3].units);
    std::iota(units.begin(), units.end(), 0u);
    random.shuffle(std::span(units));
    units.resize(20 + random.below(40));
    std::sort(units.begin(), units.end());
    const std::vector<std::vector<uint32_t>> kept{units};
    Client client{
        .held = SubModel(model, kept), .whole = {}, .trained = {}, .examples = 1 + random.below(300)};
    for (size_t i = 0; i < weights; ++i) client.whole.push_back(static_cast<float>(random.normal() * 0.05));
    client.trained.resize(client.held.size());
    client.held.gather(client.whole, client.trained);
    for (float& weight : client.trained) weight += static_cast<float>(random.normal() * 0.001);
    clients.push_back(std::move(client));
  }
  return clients;
}

PartialSum sum_of(const std::vector<Client>& clients, size_t weights) {
  PartialSum sum(weights);
  for (const Client& c : clients) EXPECT_TRUE(sum.add_difference(c.held, c.whole, c.trained, c.examples));
  return sum;
}

// Few weights, because the sanitizers make every one of them dear; so many units that some are nobody's.
ModelSpec narrow_model() {
  return {"narrow",
          {1, 5, 5},
          {{.type = "flatten"},
           {.type = "dense", .name = "d1", .units = 20},
           {.type = "relu"},
           {.type = "dense", .name = "d2", .units = 200, .droppable = true},
           {.type = "relu"},
           {.type = "dense", .name = "d3", .units = 10}}};
}

class PartialSumTest : public ::testing::Test {
 protected:
  const ModelSpec model_ = narrow_model();
  const size_t size_ = parameter_count(model_);
  std::vector<Client> clients_ = random_clients(model_, 7);
};

TEST_F(PartialSumTest, EveryMeanIsTheBruteForceOneOverItsHolders) {
  const PartialSum sum = sum_of(clients_, size_);
  std::vector<double> updates(size_, 0), holders(size_, 0);
  for (const Client& c : clients_) {
    c.held.for_each_run([&](size_t full, size_t sub, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        const float update = c.trained[sub + i] - c.whole[full + i];
        updates[full + i] += double{update} * c.examples;
        holders[full + i] += c.examples;
      }
    });
  }
  size_t unheld = 0;
  for (size_t i = 0; i < size_; ++i) {
    EXPECT_EQ(sum.held(i), holders[i] > 0);
    unheld += sum.held(i) ? 0 : 1;
    const double mean = holders[i] > 0 ? updates[i] / holders[i] : 0;
    EXPECT_NEAR(sum.mean(i), mean, PartialSum::kResolution);
  }
  EXPECT_GT(unheld, 0) << "the test wants weights that nobody held";
}

TEST_F(PartialSumTest, OrderAndGroupingDoNotChangeABit) {
  const PartialSum forward = sum_of(clients_, size_);
  std::vector<Client> reversed(clients_.rbegin(), clients_.rend());
  EXPECT_EQ(forward, sum_of(reversed, size_));

  PartialSum left = sum_of({clients_.begin(), clients_.begin() + 3}, size_);
  left.merge(sum_of({clients_.begin() + 3, clients_.end()}, size_));
  EXPECT_EQ(forward, left);
}

TEST_F(PartialSumTest, AZeroUpdateIsAZeroMean) {
  for (Client& c : clients_) c.held.gather(c.whole, c.trained);
  const PartialSum sum = sum_of(clients_, size_);
  for (size_t i = 0; i < size_; ++i) EXPECT_EQ(sum.mean(i), 0.0);
}

TEST_F(PartialSumTest, ADivergedClientAddsNothing) {
  PartialSum sum = sum_of(clients_, size_);
  const PartialSum before = sum;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(), 100.0f}) {
    Client client = clients_[0];
    client.trained[client.trained.size() / 2] = bad;
    EXPECT_FALSE(sum.add_difference(client.held, client.whole, client.trained, client.examples));
    EXPECT_EQ(sum, before);
  }
}

TEST_F(PartialSumTest, TheLargestSumDoesNotOverflow) {
  const Client& c = clients_[0];
  const std::vector<float> update(c.held.size(), 63.99f);
  PartialSum sum(size_);
  EXPECT_TRUE(sum.add(c.held, update, PartialSum::kMostExamples - 1));
  EXPECT_NEAR(sum.mean(0), 63.99, 1e-5);
  EXPECT_THROW((void)sum.add(c.held, update, 1), Error);
}

TEST_F(PartialSumTest, AnUpdateIsTheFloatDifferenceWhoeverMakesIt) {
  PartialSum sum(size_);
  for (const Client& c : clients_) {
    std::vector<float> update(c.held.size());
    c.held.gather(c.whole, update);
    for (size_t i = 0; i < update.size(); ++i) update[i] = c.trained[i] - update[i];
    EXPECT_TRUE(sum.add(c.held, update, c.examples));
  }
  EXPECT_EQ(sum, sum_of(clients_, size_));
}

// What a network of ranks does: plain arrays are added, and the holders counted from who held what.
TEST_F(PartialSumTest, CanBeReducedAsPlainArrays) {
  const PartialSum expected = sum_of(clients_, size_);
  PartialSum here = sum_of({clients_.begin(), clients_.begin() + 3}, size_);
  const PartialSum there = sum_of({clients_.begin() + 3, clients_.end()}, size_);
  for (size_t i = 0; i < size_; ++i) here.sums()[i] += there.sums()[i];
  EXPECT_NE(here, expected);
  for (size_t k = 3; k < clients_.size(); ++k) here.add_holder(clients_[k].held, clients_[k].examples);
  EXPECT_EQ(here, expected);

  PartialSum filled(size_);
  std::ranges::copy(expected.sums(), filled.sums().begin());
  std::ranges::copy(expected.holders(), filled.holders().begin());
  filled.set_examples(expected.examples());
  EXPECT_EQ(filled, expected);
  EXPECT_THROW(filled.set_examples(PartialSum::kMostExamples), Error);
}

TEST_F(PartialSumTest, EverySizeIsChecked) {
  const Client& c = clients_[0];
  PartialSum sum(size_), shorter(size_ - 1);
  const std::vector<float> too_few(c.held.size() - 1), too_many(c.held.size() + 1);
  EXPECT_THROW((void)sum.add(c.held, too_few, 1), Error);
  EXPECT_THROW((void)sum.add(c.held, too_many, 1), Error);
  EXPECT_THROW((void)sum.add_difference(c.held, std::span(c.whole).first(3), c.trained, 1), Error);
  EXPECT_THROW((void)sum.add_difference(c.held, c.whole, too_few, 1), Error);
  EXPECT_THROW((void)shorter.add(c.held, c.trained, 1), Error);
  EXPECT_THROW(shorter.add_holder(c.held, 1), Error);
  EXPECT_THROW(sum.merge(shorter), Error);
  EXPECT_EQ(sum, PartialSum(size_));
}

}  // namespace
}  // namespace subfleet
