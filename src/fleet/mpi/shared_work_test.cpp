#include "fleet/mpi/shared_work.h"

#include <gtest/gtest.h>

#include <numeric>

namespace subfleet::mpi {
namespace {

TEST(DealJobs, EveryRankHasAboutAsMuchToDo) {
  std::vector<double> costs;
  for (int i = 0; i < 35; ++i) costs.push_back(50 + (i * 37) % 200);
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  for (const uint32_t ranks : {1u, 2u, 3u, 4u, 8u}) {
    const std::vector<uint32_t> owners = deal_jobs(costs, ranks);
    std::vector<double> load(ranks, 0.0);
    for (size_t job = 0; job < costs.size(); ++job) load.at(owners[job]) += costs[job];
    for (const double mine : load) EXPECT_LT(mine, all / ranks + 50) << ranks << " ranks";
  }
}

TEST(DealJobs, ThereMayBeMoreRanksThanJobs) {
  const std::vector<double> costs{1, 5};
  EXPECT_EQ(deal_jobs(costs, 5), (std::vector{1u, 0u}));
  EXPECT_TRUE(deal_jobs({}, 5).empty());
}

TEST(ChunkShare, TheSharesFollowOneAnotherAndAreAll) {
  for (const size_t chunks : {size_t{0}, size_t{1}, size_t{7}, size_t{85}}) {
    for (const uint32_t ranks : {1u, 2u, 3u, 8u}) {
      size_t next = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        const auto [first, last] = chunk_share(chunks, rank, ranks);
        EXPECT_EQ(first, next);
        EXPECT_LE(last - first, chunks / ranks + 1);
        next = last;
      }
      EXPECT_EQ(next, chunks);
    }
  }
}

}  // namespace
}  // namespace subfleet::mpi
