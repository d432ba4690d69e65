#include "nn/augment.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "subfleet/error.h"
#include "subfleet/random.h"
#include "subfleet/trainer.h"

namespace subfleet {
namespace {

constexpr Shape kShape{2, 3, 4};

std::vector<float> picture() {
  std::vector<float> values(kShape.size());
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

std::vector<float> seen_as(const LocalTraining& how, uint32_t seen, uint32_t client = 7) {
  std::vector<float> values(kShape.size());
  augment({.seed = 5, .round = 2, .client = client, .purpose = Purpose::kAugment}, seen, how, kShape,
          picture(), values);
  return values;
}

// The picture, mirrored or not, moved down and to the right.
std::vector<float> moved(bool mirrored, int down, int right) {
  const std::vector<float> from = picture();
  std::vector<float> to(kShape.size(), 0.0f);
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int at_y = y + down, at_x = (mirrored ? 3 - x : x) + right;
        if (at_y >= 0 && at_y < 3 && at_x >= 0 && at_x < 4)
          to[c * 12 + at_y * 4 + at_x] = from[c * 12 + y * 4 + x];
      }
    }
  }
  return to;
}

TEST(Augment, MirrorsHalfOfTheTime) {
  std::map<std::vector<float>, int> times;
  for (uint32_t seen = 0; seen < 1000; ++seen) ++times[seen_as({.flip = true}, seen)];
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[moved(false, 0, 0)], 500, 60);
  EXPECT_NEAR(times[moved(true, 0, 0)], 500, 60);
}

TEST(Augment, MovesByEveryDistanceEquallyOften) {
  std::map<std::vector<float>, int> times;
  for (uint32_t seen = 0; seen < 9000; ++seen) ++times[seen_as({.crop = 1}, seen)];
  ASSERT_EQ(times.size(), 9u);
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) EXPECT_NEAR(times[moved(false, down, right)], 1000, 140);
  }
}

TEST(Augment, BothAreDrawnApart) {
  std::set<std::vector<float>> all;
  for (uint32_t seen = 0; seen < 1000; ++seen) all.insert(seen_as({.flip = true, .crop = 1}, seen));
  EXPECT_EQ(all.size(), 18u);
  EXPECT_TRUE(all.contains(moved(true, 1, -1)));
}

TEST(Augment, WhatIsSeenDependsOnTheClientAndTheTimeAlone) {
  const LocalTraining how{.flip = true, .crop = 1};
  int alike = 0;
  for (uint32_t seen = 0; seen < 50; ++seen) {
    EXPECT_EQ(seen_as(how, seen), seen_as(how, seen));
    alike += seen_as(how, seen) == seen_as(how, seen, 8);
  }
  EXPECT_LT(alike, 15);
}

TEST(Augment, OnlyPicturesThatAreLargeEnough) {
  const auto complaint = [](const LocalTraining& how, const char* model) {
    try {
      check_augmentation(how, find_model(model));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint({.flip = true, .crop = 4}, "resnet18"), "none");
  EXPECT_EQ(complaint({}, "char-lstm"), "none");
  EXPECT_EQ(complaint({.flip = true}, "char-lstm"), "round.flip: char-lstm does not read pictures");
  EXPECT_EQ(complaint({.crop = 28}, "emnist-cnn"),
            "round.crop: 28 pixels leave nothing of pictures of 28 x 28");
}

}  // namespace
}  // namespace subfleet
