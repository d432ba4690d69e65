#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/wide_vectors.h"
#include "wire/blocks.h"
#include "wire/codecs.h"
#include "wire/rotation.h"
#include "wire/rotation_kernels.h"

namespace subfleet {
namespace {

// All give the same bits. SUBFLEET_KERNELS chooses, as it does for the training kernels.
const RotationKernels& kernels() {
  static const RotationKernels* const chosen = [] {
    const std::vector<const RotationKernels*> usable = usable_rotation_kernels();
    const char* wanted = std::getenv("SUBFLEET_KERNELS");
    const auto found = std::ranges::find_if(
        usable, [&](const RotationKernels* each) { return wanted != nullptr && each->name == wanted; });
    return found == usable.end() ? usable.front() : *found;
  }();
  return *chosen;
}

using Signs = std::array<uint32_t, kSignWords>;
using Block = std::array<float, kRotatedBlock>;

// sign_words for all eighths of a block at once: a lane has the lower halves of its counters' words.
Signs signs_of(const RandomKey& key, uint32_t block) {
  return on_wide_vectors([&] {
    std::array<std::array<uint64_t, 8>, 4> c;
    for (uint32_t lane = 0; lane < 8; ++lane) {
      c[0][lane] = 8 * block + lane;
      c[1][lane] = key.round;
      c[2][lane] = key.client;
      c[3][lane] = static_cast<uint32_t>(key.purpose);
    }
    auto low = static_cast<uint32_t>(key.seed), high = static_cast<uint32_t>(key.seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
#pragma omp simd
      for (size_t lane = 0; lane < 8; ++lane) {
        const uint64_t a = uint64_t{0xD2511F53} * static_cast<uint32_t>(c[0][lane]);
        const uint64_t b = uint64_t{0xCD9E8D57} * static_cast<uint32_t>(c[2][lane]);
        c[0][lane] = (b >> 32) ^ c[1][lane] ^ low;
        c[1][lane] = b;
        c[2][lane] = (a >> 32) ^ c[3][lane] ^ high;
        c[3][lane] = a;
      }
      low += 0x9E3779B9;
      high += 0xBB67AE85;
    }
    Signs signs;
    for (size_t i = 0; i < kSignWords; ++i) signs[i] = static_cast<uint32_t>(c[i % 4][i / 4]);
    return signs;
  });
}

// DRIVE and EDEN; rotation.h has the definition.
class Rot final : public Codec {
 public:
  explicit Rot(int bits) : bits_(bits), name_(fmt::format("rot{}", bits)) {}

  std::string_view name() const override { return name_; }
  bool lossless() const override { return false; }

  size_t encoded_size(size_t values) const override {
    const size_t left = values % kRotatedBlock;
    return values / kRotatedBlock * rotated_block_bytes(kRotatedBlock, bits_) +
           (left > 0 ? rotated_block_bytes(rotated_block_size(left), bits_) : 0);
  }

  void encode(std::span<const float> values, const RandomKey& key,
              std::vector<std::byte>& message) const override {
    message.resize(encoded_size(values.size()));
    std::byte* to = message.data();
    for_each_block(values, key, [&](std::span<const float> block, const Signs& signs, uint32_t) {
      const size_t size = rotated_block_size(block.size());
      auto* planes = reinterpret_cast<uint8_t*>(to + sizeof(float));
      const float scale = block.size() == kRotatedBlock
                              ? kernels().encode(block.data(), signs.data(), bits_, planes)
                              : encode_rotated(padded(block).data(), size, signs.data(), bits_, planes);
      std::memcpy(to, &scale, sizeof scale);
      to += rotated_block_bytes(size, bits_);
    });
  }

  void decode(std::span<const std::byte> message, const RandomKey& key,
              std::span<float> values) const override {
    check_length(name_, message, values.size(), encoded_size(values.size()));
    const std::byte* from = message.data();
    for_each_block(values, key, [&](std::span<float> block, const Signs& signs, uint32_t number) {
      const size_t size = rotated_block_size(block.size());
      const float scale = read_scale(name_, from, number);
      const auto* planes = reinterpret_cast<const uint8_t*>(from + sizeof scale);
      if (block.size() == kRotatedBlock) {
        kernels().decode(planes, scale, signs.data(), bits_, block.data());
      } else {
        Block whole;
        decode_rotated(planes, size, scale, signs.data(), bits_, whole.data());
        std::copy_n(whole.begin(), block.size(), block.begin());
      }
      from += rotated_block_bytes(size, bits_);
    });
  }

  void transmit(std::span<float> values, const RandomKey& key) const override {
    for_each_block(values, key, [&](std::span<float> block, const Signs& signs, uint32_t) {
      if (block.size() == kRotatedBlock) {
        kernels().transmit(block.data(), signs.data(), bits_);
      } else {
        Block whole = padded(block);
        transmit_rotated(whole.data(), rotated_block_size(block.size()), signs.data(), bits_);
        std::copy_n(whole.begin(), block.size(), block.begin());
      }
    });
  }

 private:
  template <typename Value, typename Work>
  static void for_each_block(std::span<Value> values, const RandomKey& key, const Work& work) {
    uint32_t number = 0;
    for (size_t first = 0; first < values.size(); first += kRotatedBlock, ++number) {
      const Signs signs = signs_of(key, number);
      work(values.subspan(first, std::min(kRotatedBlock, values.size() - first)), signs, number);
    }
  }

  static Block padded(std::span<const float> values) {
    Block whole{};
    std::ranges::copy(values, whole.begin());
    return whole;
  }

  int bits_;
  std::string name_;
};

}  // namespace

const Codec& rot_codec(int bits) {
  static const std::array<Rot, kMostBits> codecs{Rot(1), Rot(2), Rot(3), Rot(4),
                                                 Rot(5), Rot(6), Rot(7), Rot(8)};
  return codecs.at(static_cast<size_t>(bits) - 1);
}

}  // namespace subfleet
