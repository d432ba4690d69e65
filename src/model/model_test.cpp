#include "subfleet/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "subfleet/error.h"

namespace subfleet {
namespace {

TEST(Model, EmnistCnnIsThePapersNetwork) {
  const ModelSpec model = find_model("emnist-cnn");
  EXPECT_EQ(parameter_count(model), 6'603'710);
  EXPECT_EQ(class_count(model), 62);
  // Table "EMNIST62 model summary": parameters layer by layer.
  const auto parameters = model_parameters(model);
  ASSERT_EQ(parameters.size(), 8);
  const std::vector<size_t> per_layer{832, 51264, 6424576, 127038};
  for (size_t layer = 0; layer < 4; ++layer) {
    EXPECT_EQ(parameters[2 * layer].size() + parameters[2 * layer + 1].size(), per_layer[layer]);
  }
  EXPECT_EQ(parameters[2].name, "conv2.weight");
  EXPECT_EQ(parameters[2].shape, (std::vector<size_t>{64, 32, 5, 5}));
  EXPECT_EQ(parameters[4].shape, (std::vector<size_t>{2048, 3136}));
}

TEST(Model, EveryModelOfTheZooIsConsistent) {
  for (const std::string& name : model_names()) {
    const ModelSpec model = find_model(name);
    EXPECT_EQ(model.name, name);
    size_t offset = 0;
    for (const ParameterSpec& p : model_parameters(model)) {
      EXPECT_EQ(p.offset, offset) << p.name;
      size_t elements = 1;
      for (const size_t extent : p.shape) elements *= extent;
      EXPECT_EQ(p.size(), elements) << p.name;
      offset += p.size();
    }
    EXPECT_EQ(parameter_count(model), offset);
    // Every layer with units but the first and the last is droppable.
    std::vector<size_t> with_units;
    for (size_t i = 0; i < model.layers.size(); ++i) {
      if (model.layers[i].units > 0) with_units.push_back(i);
    }
    std::vector<size_t> inner;
    if (with_units.size() > 2) inner.assign(with_units.begin() + 1, with_units.end() - 1);
    EXPECT_EQ(droppable_layers(model), inner) << name;
  }
}

TEST(Model, InitialWeightsAreGlorotUniformAndDependOnTheSeedAlone) {
  const ModelSpec model = find_model("emnist-mlp");
  const std::vector<float> weights = initial_weights(model, 3);
  EXPECT_EQ(weights, initial_weights(model, 3));
  EXPECT_NE(weights, initial_weights(model, 4));
  for (const ParameterSpec& p : model_parameters(model)) {
    if (p.fan_in == 0) {
      for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(weights[p.offset + i], 0.0f);
      continue;
    }
    const double limit = std::sqrt(6.0 / static_cast<double>(p.fan_in + p.fan_out));
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      const double w = weights[p.offset + i];
      EXPECT_LE(std::abs(w), limit);
      sum += w;
      squares += w * w;
    }
    const auto n = static_cast<double>(p.size());
    EXPECT_NEAR(sum / n, 0, 4 * limit / std::sqrt(3 * n)) << p.name;
    EXPECT_NEAR(squares / n, limit * limit / 3, 0.05 * limit * limit) << p.name;
  }
}

TEST(Model, AModelThatDoesNotFitIsAClearError) {
  EXPECT_THROW(find_model("emnist-cn"), Error);
  const ModelSpec dense_on_image{"m", {1, 4, 4}, {{.type = "dense", .name = "d", .units = 2}}};
  EXPECT_THROW(layer_shapes(dense_on_image), Error);
  const ModelSpec even_kernel{"m", {1, 4, 4}, {{.type = "conv2d", .name = "c", .units = 2, .kernel = 4}}};
  EXPECT_THROW(layer_shapes(even_kernel), Error);
  const ModelSpec large_window{"m", {1, 4, 4}, {{.type = "maxpool", .kernel = 5}}};
  EXPECT_THROW(layer_shapes(large_window), Error);
  const ModelSpec unknown{"m", {1, 4, 4}, {{.type = "conv"}}};
  EXPECT_THROW(layer_shapes(unknown), Error);
}

}  // namespace
}  // namespace subfleet
