#include "subfleet/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

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

TEST(Model, AllCnnCIsThePapersNetwork) {
  const ModelSpec model = find_model("allcnn-c");
  EXPECT_EQ(parameter_count(model), 1'369'738);
  EXPECT_EQ(class_count(model), 10);
  const std::vector<size_t> per_layer{2688, 83040, 83040, 166080, 331968, 331968, 331968, 37056, 1930};
  const auto parameters = model_parameters(model);
  ASSERT_EQ(parameters.size(), 2 * per_layer.size());
  for (size_t layer = 0; layer < per_layer.size(); ++layer) {
    EXPECT_EQ(parameters[2 * layer].size() + parameters[2 * layer + 1].size(), per_layer[layer]);
  }
  const auto shapes = value_shapes(model);
  EXPECT_EQ(shapes[6], (Shape{96, 16, 16}));  // after the first stride of 2
  EXPECT_EQ(shapes[12], (Shape{192, 8, 8}));  // and the second
  EXPECT_EQ(shapes.back(), (Shape{10, 1, 1}));
  EXPECT_EQ(droppable_groups(model).size(), 7);
  EXPECT_EQ(class_count(find_model("allcnn-c100")), 100);
}

TEST(Model, AStridedConvolutionHasPyTorchsOutputSize) {
  for (const size_t side : {1, 2, 7, 8, 32}) {
    for (const size_t kernel : {1, 3, 5}) {
      for (const size_t stride : {1, 2, 3}) {
        const LayerSpec layer{.type = "conv2d", .name = "c", .units = 4, .kernel = kernel, .stride = stride};
        const size_t expected = (side + 2 * (kernel / 2) - kernel) / stride + 1;
        EXPECT_EQ(value_shapes({"m", {1, side, side + 1}, {layer}}).back().height, expected);
      }
    }
  }
}

TEST(Model, CharLstmHasPyTorchsNamesAndASymbolForEveryCharacter) {
  const ModelSpec model = find_model("char-lstm");
  EXPECT_EQ(parameter_count(model), 820'185);
  EXPECT_EQ(model.vocabulary.size(), 80);
  EXPECT_EQ(class_count(model), 81);
  EXPECT_EQ(std::set<char>(model.vocabulary.begin(), model.vocabulary.end()).size(), 80);
  const std::map<std::string, std::vector<size_t>> expected{{"embedding.weight", {81, 8}},
                                                            {"lstm1.weight_ih_l0", {1024, 8}},
                                                            {"lstm1.weight_hh_l0", {1024, 256}},
                                                            {"lstm1.bias_ih_l0", {1024}},
                                                            {"lstm1.bias_hh_l0", {1024}},
                                                            {"lstm2.weight_ih_l0", {1024, 256}},
                                                            {"lstm2.weight_hh_l0", {1024, 256}},
                                                            {"lstm2.bias_ih_l0", {1024}},
                                                            {"lstm2.bias_hh_l0", {1024}},
                                                            {"dense.weight", {81, 256}},
                                                            {"dense.bias", {81}}};
  std::map<std::string, std::vector<size_t>> actual;
  for (const ParameterSpec& p : model_parameters(model)) actual[p.name] = p.shape;
  EXPECT_EQ(actual, expected);
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
    // The first and the last units and those of a residual stream are never droppable.
    const std::vector<UnitGroup> groups = unit_groups(model);
    for (size_t i = 0; i < groups.size(); ++i) {
      const bool inner = i > 0 && i + 1 < groups.size() && groups[i].layers.size() == 1;
      EXPECT_FALSE(groups[i].droppable && !inner) << name << " " << groups[i].name;
    }
    const auto reads_names = [](const LayerSpec& layer) { return !layer.inputs.empty(); };
    if (std::ranges::any_of(model.layers, reads_names)) continue;
    EXPECT_EQ(droppable_groups(model).size(), std::max<size_t>(groups.size(), 2) - 2) << name;
  }
}

TEST(Model, NetworksOfTodayHaveTheParametersOfPyTorchsAndOneGroupOfUnitsPerStream) {
  const ModelSpec resnet = find_model("resnet18");
  EXPECT_EQ(parameter_count(resnet),
            11'173'962u);  // torchvision's, with a first convolution of 3x3 and 10 classes
  const std::vector<UnitGroup> groups = unit_groups(resnet);
  ASSERT_EQ(groups.size(), 4u + 8 + 1);  // four stages, the inside of eight blocks, classes
  EXPECT_EQ(groups[0].name, "conv1");
  EXPECT_EQ(groups[0].layers.size(), 3u);  // the first convolution and the last of two blocks
  EXPECT_EQ(droppable_groups(resnet).size(), 8u);

  EXPECT_EQ(parameter_count(find_model("mobilenet-v2")), 2'236'682u);  // torchvision's with 10 classes
  const ModelSpec transformer = find_model("char-transformer");
  EXPECT_EQ(parameter_count(transformer), 824'401u);
  EXPECT_EQ(unit_groups(transformer).front().layers.size(),
            9u);  // what is embedded, and two branches of each block
  EXPECT_EQ(droppable_groups(transformer).size(), 8u);
  EXPECT_EQ(logit_rows(transformer), 80u);
}

TEST(Model, AllCnnCStartsHeUniform) {
  const ModelSpec model = find_model("allcnn-c");
  const ParameterSpec conv2 = model_parameters(model)[2];
  const std::vector<float> weights = initial_weights(model, 3);
  float largest = 0;
  for (size_t i = 0; i < conv2.size(); ++i) largest = std::max(largest, std::abs(weights[conv2.offset + i]));
  EXPECT_NEAR(largest, std::sqrt(6.0 / (96 * 9)), 1e-4);
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
  EXPECT_THROW(value_shapes(dense_on_image), Error);
  const ModelSpec even_kernel{"m", {1, 4, 4}, {{.type = "conv2d", .name = "c", .units = 2, .kernel = 4}}};
  EXPECT_THROW(value_shapes(even_kernel), Error);
  const ModelSpec no_stride{
      "m", {1, 4, 4}, {{.type = "conv2d", .name = "c", .units = 2, .kernel = 3, .stride = 0}}};
  EXPECT_THROW(value_shapes(no_stride), Error);
  const ModelSpec large_window{"m", {1, 4, 4}, {{.type = "maxpool", .kernel = 5}}};
  EXPECT_THROW(value_shapes(large_window), Error);
  const ModelSpec symbols_of_a_picture{
      "m", {1, 4, 4}, {{.type = "embedding", .name = "e", .units = 2, .symbols = 3}}};
  EXPECT_THROW(value_shapes(symbols_of_a_picture), Error);
  const ModelSpec no_symbols{"m", {1, 4, 1}, {{.type = "embedding", .name = "e", .units = 2}}};
  EXPECT_THROW(value_shapes(no_symbols), Error);
  const ModelSpec lstm_on_picture{"m", {1, 4, 4}, {{.type = "lstm", .name = "l", .units = 2}}};
  EXPECT_THROW(value_shapes(lstm_on_picture), Error);
  const ModelSpec unknown{"m", {1, 4, 4}, {{.type = "conv"}}};
  EXPECT_THROW(value_shapes(unknown), Error);
}

}  // namespace
}  // namespace subfleet
