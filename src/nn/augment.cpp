#include "nn/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "subfleet/error.h"
#include "subfleet/random.h"
#include "subfleet/trainer.h"

namespace subfleet {
namespace {

// Uniform below `bound`, but for less than one part in 2^20.
uint32_t below(uint32_t random, uint32_t bound) {
  return static_cast<uint32_t>(uint64_t{random} * bound >> 32);
}

}  // namespace

void check_augmentation(const LocalTraining& how, const ModelSpec& model) {
  if (!is_augmented(how)) return;
  const char* const key = how.flip ? "round.flip" : "round.crop";
  if (model.input.width == 1) throw bad_request(key, fmt::format("{} does not read pictures", model.name));
  if (how.crop >= std::min(model.input.height, model.input.width)) {
    throw bad_request("round.crop", fmt::format("{} pixels leave nothing of pictures of {} x {}", how.crop,
                                                model.input.height, model.input.width));
  }
}

void augment(const RandomKey& key, uint32_t seen, const LocalTraining& how, const Shape& shape,
             std::span<const float> example, std::span<float> into) {
  const std::array<uint32_t, 4> drawn =
      philox4x32({seen, key.round, key.client, static_cast<uint32_t>(key.purpose)},
                 {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
  const bool mirrored = how.flip && drawn[0] >> 31 == 1;
  const auto height = static_cast<int64_t>(shape.height), width = static_cast<int64_t>(shape.width);
  const auto move = [&](uint32_t random) {
    return static_cast<int64_t>(below(random, 2 * how.crop + 1)) - static_cast<int64_t>(how.crop);
  };
  const int64_t down = move(drawn[1]), right = move(drawn[2]);
  for (size_t c = 0; c < shape.channels; ++c) {
    const float* const from = example.data() + c * shape.height * shape.width;
    float* const to = into.data() + c * shape.height * shape.width;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        const int64_t source_y = y - down, moved = x - right, source_x = mirrored ? width - 1 - moved : moved;
        const bool inside = source_y >= 0 && source_y < height && moved >= 0 && moved < width;
        to[y * width + x] = inside ? from[source_y * width + source_x] : 0.0f;
      }
    }
  }
}

}  // namespace subfleet
