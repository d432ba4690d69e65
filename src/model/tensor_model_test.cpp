#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "subfleet/error.h"
#include "subfleet/model.h"
#include "subfleet/submodel.h"

namespace subfleet {
namespace {

// A convolution of 3 filters; attention with 2 heads of 2 features, whose queries, keys and values follow
// each other; a layer that reads the filters' 2 positions and then the heads, side by side; and an embedding
// whose width is its last axis.
constexpr std::string_view kModel = R"(
name = "mine"
input = [1, 2, 2]
outputs = 4
group = [
  { name = "conv", units = 3, droppable = true },
  { name = "heads", units = 2, droppable = true },
  { name = "stream", units = 2 },
]
tensor = [
  { name = "conv.weight", shape = [3, 1, 2, 2], rows = "conv" },
  { name = "conv.bias", shape = [3], rows = "conv" },
  { name = "in_proj", shape = [12, 2], rows = { group = "heads", outer = 3, inner = 2 }, columns = "stream" },
  { name = "out.weight", shape = [4, 10], rows = { inner = 4 }, columns = [{ group = "conv", inner = 2 }, { group = "heads", inner = 2 }] },
  { name = "places", shape = [1, 5, 3], rows = { inner = 5 }, columns = "conv" },
  { name = "running", shape = [4], statistic = true },
]
)";

ModelSpec model() { return parse_model(kModel, "mine.toml"); }

TEST(TensorModel, IsWhatTheFileSays) {
  const ModelSpec mine = model();
  EXPECT_EQ(parameter_count(mine), 12u + 3 + 24 + 40 + 15 + 4);
  EXPECT_EQ(class_count(mine), 4u);
  EXPECT_EQ(logit_rows(mine), 1u);
  const std::vector<UnitGroup> droppable = droppable_groups(mine);
  ASSERT_EQ(droppable.size(), 2u);
  EXPECT_EQ(droppable[1].name, "heads");
  EXPECT_EQ(unit_groups(mine).size(), 3u);
  const std::vector<ParameterSpec> tensors = model_parameters(mine);
  EXPECT_EQ(tensors[4].rows, 5u);
  EXPECT_EQ(tensors[4].columns, 3u);
  EXPECT_EQ(tensors[0].inner, 4u);
  EXPECT_TRUE(tensors[5].statistic);
  EXPECT_EQ(learnt_count(mine), parameter_count(mine) - 4);
  EXPECT_EQ(initial_weights(mine, 1), std::vector<float>(parameter_count(mine), 0.0f));
}

TEST(TensorModel, IsTheSameReadBack) { EXPECT_EQ(parse_model(model_toml(model()), "again"), model()); }

// Every kept value stands where its units say, found by asking for each axis alone.
TEST(TensorModel, ASubModelHoldsTheKeptUnitsOfEveryAxis) {
  const ModelSpec mine = model();
  const SubModel sub(mine, std::vector<std::vector<uint32_t>>{{0, 2}, {1}});
  std::vector<float> weights(parameter_count(mine)), held(sub.size());
  std::iota(weights.begin(), weights.end(), 0.0f);
  sub.gather(weights, held);
  std::vector<float> expected;
  const auto keep = [&](int begin, int width, std::initializer_list<int> rows,
                        std::initializer_list<int> columns) {
    for (const int row : rows) {
      for (const int column : columns) expected.push_back(static_cast<float>(begin + row * width + column));
    }
  };
  keep(0, 4, {0, 2}, {0, 1, 2, 3});
  keep(12, 1, {0, 2}, {0});
  keep(15, 2, {2, 3, 6, 7, 10, 11}, {0, 1});
  keep(39, 10, {0, 1, 2, 3}, {0, 1, 4, 5, 8, 9});
  keep(79, 3, {0, 1, 2, 3, 4}, {0, 2});
  keep(94, 1, {0, 1, 2, 3}, {0});
  EXPECT_EQ(held, expected);

  const std::vector<ParameterSpec> left = model_parameters(sub.spec());
  EXPECT_EQ(parameter_count(sub.spec()), sub.size());
  EXPECT_EQ(left[0].shape, (std::vector<size_t>{2, 1, 2, 2}));
  EXPECT_EQ(left[2].shape, (std::vector<size_t>{6, 2}));
  EXPECT_EQ(left[3].shape, (std::vector<size_t>{4, 6}));
  EXPECT_EQ(left[4].shape, (std::vector<size_t>{1, 5, 2}));
  EXPECT_NO_THROW(check_model(sub.spec()));
  EXPECT_EQ(sub.kept(), (std::vector<std::vector<uint32_t>>{{0, 2}, {1}}));

  std::vector<float> back(weights.size(), -1.0f);
  sub.scatter(held, back);
  size_t same = 0;
  for (size_t i = 0; i < back.size(); ++i) same += back[i] == weights[i] ? 1 : 0;
  EXPECT_EQ(same, sub.size());
}

TEST(TensorModel, TheWholeOneIsItsOwnSubModel) {
  const SubModel whole = whole_model(model());
  EXPECT_EQ(whole.size(), whole.whole_size());
  EXPECT_EQ(whole.spec(), model());
}

std::string refusal(const std::string& text) {
  try {
    parse_model(text, "f");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TensorModel, WhatCannotBeIsOneLine) {
  const std::string head = "input = [1, 2, 2]\noutputs = 4\n",
                    group = "group = [{ name = 'a', units = 3 }]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"input = [1, 2, 2]\ntensor = [{ name = 'w', shape = [4] }]", "outputs: is missing"},
      {head, "outputs: is for a model of tensors"},
      {head + "tensor = []", "tensor: there is none"},
      {head + "tensor = [{ name = 'w', shape = [4] }]\nlayer = []", "layers or tensors, not both"},
      {head + "tensor = [{ name = 'w', shape = [4] }, { name = 'w', shape = [4] }]", "'w': is there twice"},
      {head + "tensor = [{ name = 'w', shape = [0] }]", "shape: must be a whole number, 1 or more"},
      {head + "tensor = [{ name = 'w', shape = [2147483647, 2147483647, 4] }]",
       "is empty, or the model too large"},
      {head + "tensor = [{ name = '', shape = [4] }]", "must be 1 to 256 plain characters"},
      {head + "tensor = [{ name = 'w', shape = [4], rows = 'b' }]", "group: unknown 'b'"},
      {head + group + "tensor = [{ name = 'w', shape = [4], rows = 'a' }]", "its rows have 3 places"},
      {head + group + "tensor = [{ name = 'w', shape = [3, 4], rows = 'a', columns = 'a' }]",
       "its columns have 3 places, which is no product of its extents behind the rows"},
      {head + group + "tensor = [{ name = 'w', shape = [3, 4], columns = 'a' }]", "has columns but no rows"},
      {head + group + "tensor = [{ name = 'w', shape = [4], rows = { outer = 4 } }]",
       "an inner and no outer"},
      {head + group + "tensor = [{ name = 'w', shape = [4], rows = { group = 'a', outer = 4294967296 } }]",
       "empty or too large"},
      {head + "group = [{ name = 'a.b', units = 3 }]\ntensor = [{ name = 'w', shape = [4] }]",
       "the name 'a.b'"},
      {head + "group = [{ name = 'a', units = 0 }]\ntensor = [{ name = 'w', shape = [4] }]",
       "units: must be"},
      {head + "tensor = [{ name = 'm', shape = [4], statistic = true }, { name = 'w', shape = [4] }]",
       "'w': is learnt and stands behind a statistic"},
      {head + "vocabulary = 'ab'\ntensor = [{ name = 'w', shape = [4] }]", "no layers and no vocabulary"},
  };
  for (const auto& [text, says] : cases) {
    const std::string line = refusal(text);
    EXPECT_NE(line.find(says), std::string::npos) << text << "\n" << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace subfleet
