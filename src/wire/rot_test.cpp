#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "wire/codecs.h"
#include "wire/rotation.h"
#include "wire/rotation_kernels.h"

namespace subfleet {
namespace {

// 1 - E[q^2] of the Lloyd-Max quantisers: Max 1960, and for more bits scripts/lloyd_max.py.
constexpr std::array kDistortion{0.3634,   0.1175,    0.03454,   0.009501,
                                 0.002505, 0.0006442, 0.0001635, 0.00004119};

std::vector<float> normal_values(size_t count, uint64_t seed) {
  Random random({.seed = seed});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return sum;
}

double energy(const std::vector<float>& values) {
  return squared_error(values, std::vector<float>(values.size(), 0.0f));
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

// rotation.h's definition, word for word: what arrives of one whole block.
std::vector<float> as_defined(std::vector<float> x, const RandomKey& key, uint32_t block, int bits) {
  const size_t n = x.size();
  const auto tree_sum = [&](std::vector<float> v) {
    for (size_t half = n / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) v[i] = v[i] + v[i + half];
    return v[0];
  };
  const auto transform = [&](std::vector<float>& v, size_t distance) {
    for (size_t i = 0; i < n; ++i) {
      if ((i & distance) != 0) continue;
      const float a = v[i], b = v[i + distance];
      v[i] = a + b;
      v[i + distance] = a - b;
    }
  };
  Random random(key);
  for (uint32_t i = 0; i < 32 * block; ++i) random.next_u32();
  std::vector<bool> minus(1024);
  for (size_t i = 0; i < 1024; i += 32) {
    const uint32_t word = random.next_u32();
    for (size_t j = 0; j < 32; ++j) minus[i + j] = (word >> j & 1) != 0;
  }
  std::vector<float> products(n), q(n);
  for (size_t i = 0; i < n; ++i) {
    if (minus[i]) x[i] = -x[i];
    products[i] = x[i] * x[i];
  }
  const float sigma = std::sqrt(tree_sum(products));
  for (size_t distance = n / 2; distance > 0; distance /= 2) transform(x, distance);
  const float per_value = sigma > 0 ? 1 / sigma : 0;
  const float* centroids = kLloydMaxCentroids.data() + (1 << (bits - 1)) - 1;
  for (size_t i = 0; i < n; ++i) {
    const float z = x[i] * per_value;
    int level = 0;
    while (level + 1 < 1 << (bits - 1) && std::abs(z) >= (centroids[level] + centroids[level + 1]) * 0.5f)
      ++level;
    q[i] = z < 0 ? -centroids[level] : centroids[level];
    products[i] = z * q[i];
  }
  const float product = tree_sum(products);
  const float scale = product > 0 ? sigma / product : sigma;
  for (size_t distance = 1; distance < n; distance *= 2) transform(q, distance);
  for (size_t i = 0; i < n; ++i) {
    q[i] = q[i] * scale;
    if (minus[i]) q[i] = -q[i];
  }
  return q;
}

TEST(Rot, CentroidsAreTheirCellsMeans) {
  const auto density = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846); };
  const auto above = [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; };
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const Quantiser quantiser = lloyd_max(bits);
    double kept = 0;
    for (uint32_t level = 0; level < quantiser.levels; ++level) {
      const double centroid = quantiser.nodes[quantiser.levels + level];
      const bool last = level + 1 == quantiser.levels;
      const double low = level == 0 ? 0 : (centroid + quantiser.nodes[quantiser.levels + level - 1]) / 2;
      const double high = last ? 100 : (centroid + quantiser.nodes[quantiser.levels + level + 1]) / 2;
      const double mass = above(low) - above(high);
      EXPECT_NEAR(centroid, (density(low) - density(high)) / mass, 2e-6) << bits << " bits, level " << level;
      kept += 2 * mass * centroid * centroid;
    }
    EXPECT_NEAR(1 - kept, kDistortion[bits - 1], 0.0004 * kDistortion[bits - 1] + 1e-8) << bits << " bits";
  }
}

TEST(Rot, AMagnitudesLevelIsTheNumberOfThresholdsThatDoNotExceedIt) {
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const Quantiser quantiser = lloyd_max(bits);
    for (uint32_t level = 0; level < quantiser.levels; ++level) {
      const float* centroid = &quantiser.nodes[quantiser.levels + level];
      EXPECT_EQ(quantiser.node_of(*centroid), quantiser.levels + level);
      if (level == 0) continue;
      const float threshold = (centroid[-1] + centroid[0]) * 0.5f;
      EXPECT_EQ(quantiser.node_of(threshold), quantiser.levels + level);
      EXPECT_EQ(quantiser.node_of(std::nextafter(threshold, 0.0f)), quantiser.levels + level - 1);
    }
    EXPECT_EQ(quantiser.node_of(1e30f), 2 * quantiser.levels - 1);
    EXPECT_EQ(quantiser.node_of(std::nanf("")), quantiser.levels);
  }
}

TEST(Rot, WhatArrivesIsWhatIsDefinedBitForBit) {
  const RandomKey key{.seed = 11, .round = 3, .client = 9, .purpose = Purpose::kWireUp};
  const std::vector<float> values = normal_values(3 * 1024 + 100, 1);
  for (int bits = 1; bits <= kMostBits; ++bits) {
    std::vector<float> got = values;
    rot_codec(bits).transmit(got, key);
    for (uint32_t block = 0; block < 4; ++block) {
      std::vector<float> part(values.begin() + 1024 * block,
                              std::min(values.begin() + 1024 * (block + 1), values.end()));
      const size_t count = part.size();
      part.resize(block == 3 ? 128 : 1024, 0.0f);
      const std::vector<float> expected = as_defined(part, key, block, bits);
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(got[1024 * block + i], expected[i]) << bits << " bits, block " << block << ", value " << i;
    }
  }
}

// Ordinary blocks, and those at the edges: zeros, one value, tiny, huge and not finite.
TEST(Rot, EveryVectorUnitHasTheSameBits) {
  std::vector<std::vector<float>> blocks{normal_values(1024, 2), normal_values(1024, 3)};
  for (const float factor : {0.0f, 1e-22f, 1e-45f, 1e18f, 1e25f}) {
    blocks.push_back(normal_values(1024, 4));
    for (float& value : blocks.back()) value *= factor;
  }
  blocks.emplace_back(1024, 0.0f)[77] = -3.5f;
  blocks.emplace_back(1024, 1.0f);
  blocks.push_back(normal_values(1024, 5));
  blocks.back()[700] = std::nanf("");
  blocks.push_back(normal_values(1024, 5));
  blocks.back()[7] = -std::numeric_limits<float>::infinity();
  std::array<uint32_t, kSignWords> signs;
  Random random({.seed = 6});
  for (uint32_t& word : signs) word = random.next_u32();

  for (const RotationKernels* kernels : usable_rotation_kernels()) {
    for (const std::vector<float>& block : blocks) {
      for (int bits = 1; bits <= kMostBits; ++bits) {
        const std::string which = fmt::format("{}, {} bits", kernels->name, bits);
        std::vector<uint8_t> expected(128 * bits), planes(128 * bits);
        const float expected_scale = encode_rotated(block.data(), 1024, signs.data(), bits, expected.data());
        const float scale = kernels->encode(block.data(), signs.data(), bits, planes.data());
        EXPECT_EQ(std::bit_cast<uint32_t>(scale), std::bit_cast<uint32_t>(expected_scale)) << which;
        EXPECT_EQ(planes, expected) << which;
        std::vector<float> expected_values(1024), values(1024), transmitted = block;
        decode_rotated(expected.data(), 1024, expected_scale, signs.data(), bits, expected_values.data());
        kernels->decode(planes.data(), scale, signs.data(), bits, values.data());
        kernels->transmit(transmitted.data(), signs.data(), bits);
        if (std::isnan(scale)) {
          for (const float value : values) EXPECT_TRUE(std::isnan(value)) << which;
          for (const float value : transmitted) EXPECT_TRUE(std::isnan(value)) << which;
        } else {
          EXPECT_EQ(bits_of(values), bits_of(expected_values)) << which;
          EXPECT_EQ(bits_of(transmitted), bits_of(expected_values)) << which;
        }
      }
    }
  }
}

// EDEN's: an unbiased scale makes the error 1 / (1 - distortion) - 1 of the energy.
TEST(Rot, TheErrorIsThatOfTheory) {
  const std::vector<float> values = normal_values(64 * 1024, 7);
  for (int bits = 1; bits <= kMostBits; ++bits) {
    std::vector<float> got = values;
    rot_codec(bits).transmit(got, {.seed = 8});
    const double theory = 1 / (1 - kDistortion[bits - 1]) - 1;
    EXPECT_NEAR(squared_error(got, values) / energy(values), theory, 0.03 * theory) << bits << " bits";
  }
}

// Values of very different sizes: the rotation spreads them, so that the error is the same as for others.
// Over many keys the mean is the values themselves, up to what chance leaves.
TEST(Rot, TheMeanOverManyKeysIsWhatWasSent) {
  constexpr uint32_t kKeys = 2000;
  std::vector<float> values = normal_values(1024, 9);
  for (size_t i = 0; i < values.size(); ++i) values[i] *= std::exp(values[(i + 1) % 1024] * 0.5f);
  for (const int bits : {1, 2, 4}) {
    std::vector<double> sums(values.size(), 0.0);
    for (uint32_t key = 0; key < kKeys; ++key) {
      std::vector<float> got = values;
      rot_codec(bits).transmit(got, {.seed = 10, .round = key});
      for (size_t i = 0; i < got.size(); ++i) sums[i] += static_cast<double>(got[i]);
    }
    std::vector<float> mean(values.size());
    for (size_t i = 0; i < mean.size(); ++i) mean[i] = static_cast<float>(sums[i] / kKeys);
    const double theory = (1 / (1 - kDistortion[bits - 1]) - 1) / kKeys;
    EXPECT_LT(squared_error(mean, values) / energy(values), 1.5 * theory) << bits << " bits";
  }
}

TEST(Rot, TakesItsBitsForEachValueAndAScaleForEachBlock) {
  EXPECT_EQ(rot_codec(4).encoded_size(0), 0u);
  EXPECT_EQ(rot_codec(4).encoded_size(1), 4u + 4u);       // 8 coefficients
  EXPECT_EQ(rot_codec(4).encoded_size(1000), 4u + 512u);  // 1,024
  EXPECT_EQ(rot_codec(4).encoded_size(1024), 4u + 512u);
  EXPECT_EQ(rot_codec(4).encoded_size(1025), 2 * 4u + 512u + 4u);
  EXPECT_EQ(rot_codec(1).encoded_size(1'696'670), 1656u * (4 + 128) + 4 + 128);
}

}  // namespace
}  // namespace subfleet
