#include "subfleet/submodel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "model/random_models_testing.h"
#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

using Kept = std::vector<std::vector<uint32_t>>;

// Half of every droppable layer, drawn at random.
Kept random_half(const ModelSpec& model, uint64_t seed) {
  Random random({.seed = seed});
  Kept kept;
  for (const UnitGroup& group : droppable_groups(model)) {
    std::vector<uint32_t> units(group.units);
    std::iota(units.begin(), units.end(), 0u);
    random.shuffle(std::span(units));
    units.resize(units.size() / 2);
    std::sort(units.begin(), units.end());
    kept.push_back(units);
  }
  return kept;
}

std::vector<float> counted(size_t size) {  // 0, 1, 2, ...: exact as floats up to 2^24
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(SubModel, HalfOfEmnistCnnHas1696670Parameters) {
  const ModelSpec model = find_model("emnist-cnn");
  const SubModel half(model, random_half(model, 1));
  EXPECT_EQ(half.size(), 1'696'670);
  EXPECT_EQ(half.size(), parameter_count(half.spec()));
}

TEST(SubModel, TheWholeModelIsTheIdentity) {
  const ModelSpec model = find_model("emnist-mlp");
  const SubModel whole = whole_model(model);
  const std::vector<float> weights = counted(parameter_count(model));
  std::vector<float> gathered(whole.size());
  whole.gather(weights, gathered);
  EXPECT_EQ(gathered, weights);
}

TEST(SubModel, ScatterOfWhatWasGatheredChangesNoBit) {
  for (const std::string& name : model_names()) {
    const ModelSpec model = find_model(name);
    const SubModel half(model, random_half(model, 2));
    const std::vector<float> weights = counted(parameter_count(model));
    std::vector<float> gathered(half.size()), copy = weights;
    half.gather(weights, gathered);
    half.scatter(gathered, copy);
    EXPECT_EQ(copy, weights) << name;
  }
}

TEST(SubModel, EveryWeightComesFromItsPlaceByBruteForce) {
  // conv1 [4,2,3,3] -> conv2 [6,4,3,3] (droppable) -> dense1 [5, 6*2*2] (droppable) -> dense2 [3,5]
  const ModelSpec model{"m",
                        {2, 4, 4},
                        {{.type = "conv2d", .name = "conv1", .units = 4, .kernel = 3},
                         {.type = "conv2d", .name = "conv2", .units = 6, .kernel = 3, .droppable = true},
                         {.type = "maxpool", .kernel = 2},
                         {.type = "flatten"},
                         {.type = "dense", .name = "dense1", .units = 5, .droppable = true},
                         {.type = "dense", .name = "dense2", .units = 3}}};
  const Kept kept{{0, 2, 3}, {1, 4}};
  const SubModel sub(model, kept);
  const auto full_parameters = model_parameters(model), sub_parameters = model_parameters(sub.spec());
  const std::vector<float> weights = counted(parameter_count(model));
  std::vector<float> gathered(sub.size(), -1);
  sub.gather(weights, gathered);

  const std::vector<uint32_t> conv1{0, 1, 2, 3}, image{0, 1}, classes{0, 1, 2};
  std::vector<uint32_t> flat;  // the 2x2 values of each kept filter
  for (const uint32_t filter : kept[0]) {
    for (uint32_t i = 0; i < 4; ++i) flat.push_back(filter * 4 + i);
  }
  const std::vector<uint32_t> only{0};
  const std::vector<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> expected{
      {conv1, image},  {conv1, only},   {kept[0], conv1},   {kept[0], only},
      {kept[1], flat}, {kept[1], only}, {classes, kept[1]}, {classes, only}};
  ASSERT_EQ(full_parameters.size(), expected.size());
  for (size_t p = 0; p < expected.size(); ++p) {
    const auto& [rows, columns] = expected[p];
    const ParameterSpec& full = full_parameters[p];
    ASSERT_EQ(sub_parameters[p].rows, rows.size()) << full.name;
    ASSERT_EQ(sub_parameters[p].columns, columns.size()) << full.name;
    size_t at = sub_parameters[p].offset;
    for (const uint32_t row : rows) {
      for (const uint32_t column : columns) {
        for (size_t i = 0; i < full.inner; ++i) {
          EXPECT_EQ(gathered[at++], weights[full.offset + (row * full.columns + column) * full.inner + i])
              << full.name;
        }
      }
    }
  }
}

TEST(SubModel, HalfOfCharLstmHas213849Parameters) {
  const ModelSpec model = find_model("char-lstm");
  const SubModel half(model, random_half(model, 1));
  EXPECT_EQ(half.size(), 213'849);
  EXPECT_EQ(half.size(), parameter_count(half.spec()));
}

TEST(SubModel, AnLstmKeepsItsUnitsInEveryGateAndInTheRecurrentColumnsByBruteForce) {
  const ModelSpec model{"m",
                        {1, 7, 1},
                        {{.type = "embedding", .name = "embedding", .units = 3, .symbols = 4},
                         {.type = "lstm", .name = "lstm1", .units = 5, .droppable = true},
                         {.type = "lstm", .name = "lstm2", .units = 6, .last_step = true, .droppable = true},
                         {.type = "dense", .name = "dense", .units = 4}}};
  const Kept kept{{0, 3, 4}, {1, 4}};
  const SubModel sub(model, kept);
  const std::vector<float> weights = counted(parameter_count(model));
  std::vector<float> gathered(sub.size(), -1);
  sub.gather(weights, gathered);

  // Which rows and columns of each tensor are held, cell by cell.
  const auto everything = [](size_t, size_t) { return true; };
  const auto holds = [&](size_t layer, size_t unit) {
    return std::ranges::find(kept[layer], static_cast<uint32_t>(unit)) != kept[layer].end();
  };
  using Holds = std::function<bool(size_t row, size_t column)>;
  const std::map<std::string, Holds> held{
      {"embedding.weight", everything},
      {"lstm1.weight_ih_l0", [&](size_t r, size_t) { return holds(0, r % 5); }},
      {"lstm1.weight_hh_l0", [&](size_t r, size_t c) { return holds(0, r % 5) && holds(0, c); }},
      {"lstm1.bias_ih_l0", [&](size_t r, size_t) { return holds(0, r % 5); }},
      {"lstm1.bias_hh_l0", [&](size_t r, size_t) { return holds(0, r % 5); }},
      {"lstm2.weight_ih_l0", [&](size_t r, size_t c) { return holds(1, r % 6) && holds(0, c); }},
      {"lstm2.weight_hh_l0", [&](size_t r, size_t c) { return holds(1, r % 6) && holds(1, c); }},
      {"lstm2.bias_ih_l0", [&](size_t r, size_t) { return holds(1, r % 6); }},
      {"lstm2.bias_hh_l0", [&](size_t r, size_t) { return holds(1, r % 6); }},
      {"dense.weight", [&](size_t, size_t c) { return holds(1, c); }},
      {"dense.bias", everything}};
  const auto parameters = model_parameters(model), sub_parameters = model_parameters(sub.spec());
  ASSERT_EQ(parameters.size(), held.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    const ParameterSpec& full = parameters[p];
    std::vector<float> expected;
    for (size_t r = 0; r < full.rows; ++r) {
      for (size_t c = 0; c < full.columns; ++c) {
        if (held.at(full.name)(r, c)) expected.push_back(weights[full.offset + r * full.columns + c]);
      }
    }
    const auto begin = gathered.begin() + static_cast<std::ptrdiff_t>(sub_parameters[p].offset);
    EXPECT_EQ(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(sub_parameters[p].size())),
              expected)
        << full.name;
  }
}

TEST(SubModel, FlattenMapsAFilterToItsOwn49Columns) {
  const ModelSpec model = find_model("emnist-cnn");
  std::vector<uint32_t> dense(2048);
  std::iota(dense.begin(), dense.end(), 0u);
  const SubModel sub(model, Kept{{7}, dense});
  const auto& dense1 = sub.tensors()[4];
  ASSERT_EQ(dense1.runs.size(), 1);
  EXPECT_EQ(dense1.runs[0].from, 7 * 49);
  EXPECT_EQ(dense1.runs[0].count, 49);
}

TEST(SubModel, OfAnyModelIsLaidOutAsItsOwnSpecSays) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const ModelSpec model = random_model(seed);
    Kept kept;
    for (const UnitGroup& group : droppable_groups(model)) {
      kept.push_back({static_cast<uint32_t>(group.units) - 1});
    }
    const SubModel sub(model, kept);
    const std::vector<ParameterSpec> parameters = model_parameters(sub.spec());
    ASSERT_EQ(sub.tensors().size(), parameters.size()) << model_toml(model);
    for (size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_EQ(sub.tensors()[i].sub_offset, parameters[i].offset) << parameters[i].name << model_toml(model);
      EXPECT_EQ(sub.tensors()[i].rows.size(), parameters[i].rows) << parameters[i].name << model_toml(model);
      EXPECT_EQ(sub.tensors()[i].sub_columns, parameters[i].columns)
          << parameters[i].name << model_toml(model);
    }
    EXPECT_EQ(sub.size(), parameter_count(sub.spec()));
  }
}

TEST(SubModel, ARescaledLayersOutputsAreDividedByItsKeptPart) {
  const ModelSpec model = find_model("emnist-cnn");
  std::vector<uint32_t> dense(2048);
  std::iota(dense.begin(), dense.end(), 0u);
  const Kept kept{{1, 7, 60}, dense};
  const SubModel plain(model, kept), rescaled(model, kept, true);
  ModelSpec expected = plain.spec();
  for (LayerSpec& layer : expected.layers) {
    EXPECT_EQ(layer.output_scale, 1) << layer.name;
    if (layer.name == "conv2") layer.output_scale = 64.0f / 3;
  }
  EXPECT_EQ(rescaled.spec(), expected) << "dense1 is whole, the others are not dropped";
}

TEST(SubModel, AWholeModelHasNoScale) {
  ModelSpec model = find_model("emnist-mlp");
  for (LayerSpec& layer : model.layers) layer.output_scale = layer.droppable ? 2 : 1;
  EXPECT_THROW(check_model(model), Error);
}

TEST(SubModel, ImpossibleSetsAreErrors) {
  const ModelSpec model = find_model("emnist-mlp");
  EXPECT_THROW(SubModel(model, Kept{}), Error);
  EXPECT_THROW(SubModel(model, Kept{{}}), Error);
  EXPECT_THROW(SubModel(model, Kept{{128}}), Error);
  EXPECT_THROW(SubModel(model, Kept{{3, 3}}), Error);
  EXPECT_THROW(SubModel(model, Kept{{4, 3}}), Error);
}

}  // namespace
}  // namespace subfleet
