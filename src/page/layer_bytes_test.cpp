#include "page/layer_bytes.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(LayerBytes, AreDealtByTheWeightsThatClientsHold) {
  RunSummary run;
  run.rounds = {{.round = 1, .bytes_down = 6'603'710, .bytes_up = 2 * 6'603'710}};
  Config config;
  config.code.family = "none";
  const auto whole = bytes_by_layer(run, config);
  ASSERT_EQ(whole.size(), 4U);
  EXPECT_EQ(whole[2].layer, "dense1");
  EXPECT_NEAR(whole[2].down, 3136 * 2048 + 2048, 1e-3) << "a byte per parameter of the paper's network";
  EXPECT_NEAR(whole[2].up, 2 * whole[2].down, 1e-3);
  config.code.family = "gold";
  const auto half = bytes_by_layer(run, config);
  double sum = 0;
  for (const LayerBytes& layer : half) sum += layer.down;
  EXPECT_NEAR(sum, 6'603'710, 1e-3);
  EXPECT_LT(half[2].down / half[0].down, whole[2].down / whole[0].down) << "conv1 stays whole";
  run.rounds.clear();
  EXPECT_TRUE(bytes_by_layer(run, config).empty());
}

}  // namespace
}  // namespace subfleet
