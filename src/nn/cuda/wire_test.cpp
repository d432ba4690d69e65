#include "nn/cuda/wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "nn/cuda/gpu_testing.h"

namespace subfleet::cuda {
namespace {

class CudaWire : public testing::Test {
 protected:
  void SetUp() override {
    SUBFLEET_SKIP_WITHOUT_GPU();
    use_gpu();
  }
};

// Blocks of every kind: ordinary values, zeros, tiny and huge ones, one large among small ones.
std::vector<float> some_values(size_t count, uint32_t stream) {
  Random random({.seed = 5, .client = stream});
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    constexpr float kSizes[] = {0.05f, 0.0f, 1e-38f, 1e30f, 1e-3f};
    values[i] = kSizes[i / 1024 % 5] * static_cast<float>(random.normal());
    if (i % 1024 == 77) values[i] *= 1000;
  }
  return values;
}

// NaN has many bit patterns; which one does not matter.
void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(actual[i]), std::bit_cast<uint32_t>(expected[i]))
        << "value " << i << ": " << actual[i] << " for " << expected[i];
  }
}

struct Sent {
  std::vector<float> values, given;
  Buffer<float> device_values, device_given;
  WireJob job;

  Sent(std::vector<float> begin_with, std::vector<float> was_given, const RandomKey& key)
      : values(std::move(begin_with)),
        given(std::move(was_given)),
        device_values(values.size()),
        device_given(values.size()),
        job{device_values.data(), device_given.data(), static_cast<uint32_t>(values.size()), key} {
    device_values.upload(values, nullptr);
    device_given.upload(given, nullptr);
  }
  std::vector<float> arrived() const {
    std::vector<float> there(values.size());
    device_values.download(there, nullptr);
    return there;
  }
};

TEST_F(CudaWire, HasTheBitsOfTheHost) {
  constexpr size_t kCounts[] = {1, 7, 8, 100, 512, 1023, 1024, 1025, 5000, 70'001};
  for (const std::string& name : codec_names()) {
    SCOPED_TRACE(name);
    const Codec& codec = find_codec(name);
    std::vector<Sent> sent;
    std::vector<WireJob> jobs;
    uint32_t client = 0;
    for (const size_t count : kCounts) {
      const RandomKey key{.seed = 1u << 30, .round = 4, .client = client, .purpose = Purpose::kWireDown};
      sent.emplace_back(some_values(count, client), some_values(count, 100 + client), key);
      ++client;
    }
    for (const Sent& one : sent) jobs.push_back(one.job);
    WireKernels wire;
    wire.send_up(codec, jobs, nullptr);
    for (const Sent& one : sent) {
      std::vector<float> expected(one.values.size());
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = one.values[i] - one.given[i];
      codec.transmit(expected, one.job.key);
      expect_same_bits(one.arrived(), expected);
    }
    for (Sent& one : sent) one.device_values.upload(one.values, nullptr);
    wire.send_down(codec, jobs, nullptr);
    for (const Sent& one : sent) {
      std::vector<float> expected = one.values, copy(one.values.size());
      codec.transmit(expected, one.job.key);
      expect_same_bits(one.arrived(), expected);
      one.device_given.download(copy, nullptr);
      expect_same_bits(copy, expected);
    }
  }
}

TEST_F(CudaWire, ABlockThatCannotBeSentIsNaN) {
  std::vector<float> values(3000, 1.0f);
  values[1500] = std::numeric_limits<float>::infinity();
  values[2999] = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"int8", "rot1", "rot4"}) {
    const Sent sent(values, values, {});
    WireKernels wire;
    wire.send_down(find_codec(name), {&sent.job, 1}, nullptr);
    const std::vector<float> arrived = sent.arrived();
    EXPECT_TRUE(std::isfinite(arrived[0])) << name;
    EXPECT_TRUE(std::isnan(arrived[1024])) << name;
    EXPECT_TRUE(std::isnan(arrived[2998])) << name;
  }
}

// A codec of somebody's own: there is no kernel for it.
class Halved final : public Codec {
 public:
  std::string_view name() const override { return "halved"; }
  bool lossless() const override { return false; }
  size_t encoded_size(size_t values) const override { return 4 * values; }
  void encode(std::span<const float>, const RandomKey&, std::vector<std::byte>&) const override {}
  void decode(std::span<const std::byte>, const RandomKey&, std::span<float>) const override {}
  void transmit(std::span<float> values, const RandomKey&) const override {
    for (float& value : values) value /= 2;
  }
};

TEST_F(CudaWire, ACodecWithoutAKernelGoesThroughTheHost) {
  const Sent down({2, 4}, {0, 0}, {}), up({2, 4}, {1, -2}, {});
  WireKernels wire;
  wire.send_down(Halved(), {&down.job, 1}, nullptr);
  EXPECT_EQ(down.arrived(), (std::vector<float>{1, 2}));
  wire.send_up(Halved(), {&up.job, 1}, nullptr);
  EXPECT_EQ(up.arrived(), (std::vector<float>{0.5f, 3}));
}

}  // namespace
}  // namespace subfleet::cuda
