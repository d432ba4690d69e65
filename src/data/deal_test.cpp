#include "data/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr uint32_t kClasses = 10;

std::vector<uint8_t> mixed_labels(size_t count) {
  std::vector<uint8_t> labels(count);
  for (size_t i = 0; i < count; ++i) labels[i] = static_cast<uint8_t>(i * 7 % kClasses);
  return labels;
}

DataOptions dealt(const std::string& partition, uint32_t clients = 20, uint64_t seed = 1) {
  return {.seed = seed, .partition = partition, .clients = clients};
}

double mean_classes(const ClientIndices& clients, const std::vector<uint8_t>& labels) {
  double sum = 0;
  for (const auto& indices : clients) {
    std::set<uint8_t> classes;
    for (const uint32_t index : indices) classes.insert(labels[index]);
    sum += static_cast<double>(classes.size());
  }
  return sum / static_cast<double>(clients.size());
}

std::string complaint(size_t count, const DataOptions& options) {
  try {
    deal(mixed_labels(count), kClasses, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Deal, EveryExampleIsDealtOnceInEveryPartition) {
  for (const char* partition : {"auto", "iid", "dirichlet", "shards"}) {
    for (const size_t count : {40u, 1003u}) {
      const ClientIndices clients = deal(mixed_labels(count), kClasses, dealt(partition));
      ASSERT_EQ(clients.size(), 20u);
      std::vector<uint32_t> all;
      for (const auto& indices : clients) {
        EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
        EXPECT_NEAR(static_cast<double>(indices.size()), static_cast<double>(count) / 20, 2);
        all.insert(all.end(), indices.begin(), indices.end());
      }
      std::sort(all.begin(), all.end());
      std::vector<uint32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0u);
      EXPECT_EQ(all, expected) << partition;
    }
  }
}

TEST(Deal, ShardsHaveFewClassesAndIidHasAll) {
  const std::vector<uint8_t> labels = mixed_labels(4000);  // 400 per class: 4 shards of 100
  DataOptions shards = dealt("shards");
  EXPECT_LE(mean_classes(deal(labels, kClasses, shards), labels), 2.0);
  shards.shards = 1;
  EXPECT_EQ(mean_classes(deal(labels, kClasses, shards), labels), 1.0);
  EXPECT_EQ(mean_classes(deal(labels, kClasses, dealt("iid")), labels), 10.0);
}

TEST(Deal, DependsOnTheSeedAlone) {
  const std::vector<uint8_t> labels = mixed_labels(500);
  for (const char* partition : {"iid", "dirichlet", "shards"}) {
    EXPECT_EQ(deal(labels, kClasses, dealt(partition)), deal(labels, kClasses, dealt(partition)));
    EXPECT_NE(deal(labels, kClasses, dealt(partition)), deal(labels, kClasses, dealt(partition, 20, 2)));
  }
}

TEST(Deal, WhatCannotBeDealtIsOneLine) {
  EXPECT_EQ(complaint(5, dealt("iid", 6)), "data.clients: 6 clients cannot share 5 images; 1 to 5 can");
  EXPECT_EQ(complaint(30, dealt("shards")),
            "data.shards: 2 for each of 20 clients cannot be cut from 30 images; 1 to 1 can");
  EXPECT_NE(complaint(30, dealt("shard")).find("data.partition: unknown 'shard'; nearest: shards"),
            std::string::npos);
  ClientIndices clients{{1, 2}, {3}};
  keep_large(clients, 2, "clients");
  EXPECT_EQ(clients.size(), 1u);
  EXPECT_THROW(keep_large(clients, 3, "clients"), Error);
}

}  // namespace
}  // namespace subfleet
