#include "subfleet/layer_sites.h"

#include <gtest/gtest.h>

#include "model/layers.h"

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

TEST(TrainingOperations, AConvolutionCountsTheTapsThatMeetAnInput) {
  for (const size_t side : {1, 2, 5, 8, 13}) {
    for (const size_t kernel : {1, 3, 5, 9}) {
      for (const size_t stride : {1, 2, 3, 20}) {
        const LayerSpec layer{.type = "conv2d", .name = "c", .units = 3, .kernel = kernel, .stride = stride};
        const Shape input{2, side, 4};
        const Shape output = value_shapes({"m", input, {layer}}).back();
        const auto meetings = [&](size_t from, size_t to) {
          size_t count = 0;
          for (size_t at = 0; at < to; ++at) {
            for (size_t tap = 0; tap < kernel; ++tap) {
              const size_t padded = at * stride + tap;
              count += padded >= kernel / 2 && padded - kernel / 2 < from ? 1 : 0;
            }
          }
          return count;
        };
        EXPECT_EQ(layer_type("conv2d").forward_operations(layer, input),
                  2 * 2 * 3 * meetings(side, output.height) * meetings(4, output.width))
            << side << " " << kernel << " " << stride;
      }
    }
  }
}

TEST(TrainingOperations, EveryLayerWithAMatrixOfWeightsTakesSome) {
  for (const std::string& name : model_names()) {
    for (const LayerSite& site : layer_sites(find_model(name))) {
      const bool looks_up = site.spec.symbols > 0;
      EXPECT_EQ(forward_operations(site) > 0, layer_type(site.spec.type).uses(&LayerSpec::units) && !looks_up)
          << name << " " << site.spec.type;
    }
  }
}

TEST(LayerSites, TrainingKeepsWeightsTwiceAndWhatEveryLayerMakesWithItsGradient) {
  const ModelSpec model{"m",
                        {1, 4, 4},
                        {{.type = "conv2d", .name = "c", .units = 2, .kernel = 3},
                         {.type = "flatten"},
                         {.type = "dense", .name = "d", .units = 3}}};
  const uint64_t weights = 2 * 9 + 2 + 3 * 32 + 3, made = 32 + 32 + 3;
  EXPECT_EQ(training_bytes(model, 5), 4 * (2 * weights + 2 * 5 * made));
}

}  // namespace
}  // namespace subfleet
