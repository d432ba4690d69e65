#include "nn/training_operations.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(TrainingOperations, CountsDenseLayersByHand) {
  const ModelSpec model{
      "two",
      {3, 1, 1},
      {{.type = "dense", .name = "a", .units = 5}, {.type = "dense", .name = "b", .units = 2}}};
  EXPECT_EQ(training_operations(model), 2 * 3 * 5 * 2 + 2 * 5 * 2 * 3);
}

TEST(TrainingOperations, PaddingIsNoWork) {
  // On 3 places a kernel of 3 meets 2 + 3 + 2 inputs in each direction.
  const ModelSpec same{"same", {1, 3, 3}, {{.type = "conv2d", .name = "c", .units = 1, .kernel = 3}}};
  EXPECT_EQ(training_operations(same), 2 * 7 * 7 * 2);
  // With a stride of 2 the middle is left out: 2 + 2.
  const ModelSpec strided{
      "strided", {1, 3, 3}, {{.type = "conv2d", .name = "c", .units = 1, .kernel = 3, .stride = 2}}};
  EXPECT_EQ(training_operations(strided), 2 * 4 * 4 * 2);
}

}  // namespace
}  // namespace subfleet
