#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/layers.h"
#include "model/random_models_testing.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/model.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

std::string complaint_about(const std::string& text) {
  try {
    parse_model(text, "net.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "";
}

TEST(ModelFile, EveryModelOfTheZooSurvivesTheRoundTrip) {
  for (const std::string& name : model_names()) {
    const ModelSpec model = find_model(name);
    check_model(model);
    const std::string text = model_toml(model);
    EXPECT_EQ(parse_model(text, "somewhere"), model) << text;
    EXPECT_EQ(model_toml(parse_model(text, "somewhere")), text);
  }
}

TEST(ModelFile, RandomModelsSurviveTheRoundTrip) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const ModelSpec model = random_model(seed);
    EXPECT_EQ(parse_model(model_toml(model), "somewhere"), model) << model_toml(model);
  }
}

TEST(ModelFile, WhatIsLeftOutGetsADefault) {
  const ModelSpec model = parse_model(R"(
    input = { channels = 3, height = 8, width = 8 }
    [[layer]]
    type = "conv2d"
    units = 4
    kernel = 3
    [[layer]]
    type = "relu"
    [[layer]]
    type = "conv2d"
    units = 6
    kernel = 3
    stride = 2
    initial = "he"
    [[layer]]
    type = "flatten"
    [[layer]]
    type = "dense"
    name = "hidden"
    units = 8
    droppable = false
    [[layer]]
    type = "dense"
    units = 8
    [[layer]]
    type = "dense"
    units = 5
  )",
                                      "folder/my net.v2.toml");
  const ModelSpec expected{"my-net.v2",
                           {3, 8, 8},
                           {{.type = "conv2d", .name = "conv1", .units = 4, .kernel = 3},
                            {.type = "relu"},
                            {.type = "conv2d",
                             .name = "conv2",
                             .units = 6,
                             .kernel = 3,
                             .stride = 2,
                             .droppable = true,
                             .initial = Initial::kHe},
                            {.type = "flatten"},
                            {.type = "dense", .name = "hidden", .units = 8},
                            {.type = "dense", .name = "dense2", .units = 8, .droppable = true},
                            {.type = "dense", .name = "dense3", .units = 5}}};
  EXPECT_EQ(model, expected) << model_toml(model);
}

TEST(ModelFile, AnUnnamedLayerGetsANameThatIsFree) {
  const ModelSpec model = parse_model(R"(
    input = [4, 1, 1]
    layer = [{ type = "dense", name = "dense2", units = 3 }, { type = "dense", units = 3 },
             { type = "dense", units = 3 }, { type = "dense", name = "dense4", units = 3 }]
  )",
                                      "net");
  EXPECT_EQ(model.layers[1].name, "dense3");
  EXPECT_EQ(model.layers[2].name, "dense5");
}

TEST(ModelFile, AnyWeightedLayerButTheLastMayBeDroppable) {
  const ModelSpec model = parse_model(R"(
    input = [1, 5, 1]
    layer = [{ type = "embedding", units = 4, symbols = 7, droppable = true },
             { type = "lstm", units = 4, last_step = true }, { type = "dense", units = 7 }]
  )",
                                      "net");
  std::vector<std::string> names;
  for (const UnitGroup& group : droppable_groups(model)) names.push_back(group.name);
  EXPECT_EQ(names, (std::vector<std::string>{"embedding1", "lstm1"}));
}

constexpr const char* kHead = "input = [1, 8, 8]\n";
constexpr const char* kEnd = "[[layer]]\ntype = 'flatten'\n[[layer]]\ntype = 'dense'\nunits = 3\n";

// A model for 1x8x8 with this layer in front of flatten and a dense layer.
std::string with_layer(const std::string& keys) {
  return fmt::format("{}[[layer]]\n{}\n{}", kHead, keys, kEnd);
}

TEST(ModelFile, WhatCannotWorkIsExplainedInOneLine) {
  struct Bad {
    std::string text;
    std::string complaint;  // part of it
  };
  const std::string input = kHead;
  const std::vector<Bad> files{
      {"input = [1, 8, 8", "net.toml: line 1: "},
      {"", "input: is missing; as in input = [1, 28, 28]"},
      {kEnd, "input: is missing"},
      {"input = [8, 8]", "input: must be [channels, height, width]"},
      {"input = [1, 8, 0]", "input: must be a whole number, 1 or more"},
      {"input = [1, 8, 8.5]", "input: must be a whole number, 1 or more"},
      {"input = 'wide'", "input: must be [channels, height, width]"},
      {"input = { channels = 1, height = 8 }", "input: width: is missing"},
      {"input = { channels = 1, hight = 8, width = 8 }", "unknown 'hight'; nearest: height"},
      {"input = [1, 100000000, 8]\nlayer = [{ type = 'flatten' }]", "input: height is 100000000"},
      {"input = [16777216, 16777216, 16777216]\nlayer = [{ type = 'flatten' }]", "too many values"},
      {input, "net: has no layers"},
      {input + "layer = []", "net: has no layers"},
      {input + "layer = 3", "layer: must be a list of layers"},
      {input + "layer = [3]", "layer: must be a list of layers"},
      {input + "[layer]\ntype = 'dense'", "layer: must be a list of layers"},
      {input + "[[layers]]\ntype = 'dense'", "unknown 'layers'; nearest: layer"},
      {"name = 'my net'\n" + with_layer("type = 'relu'"), "name: 'my net' must be 1 to 64 letters"},
      {"name = ''\n" + with_layer("type = 'relu'"), "name: '' must be 1 to 64 letters"},
      {"name = 3\n" + with_layer("type = 'relu'"), "name: must be a text in quotes"},
      {with_layer("units = 3"), "layer 1: type: is missing"},
      {with_layer("type = 3"), "layer 1: type: must be a text"},
      {with_layer("type = 'conv'"), "layer 1: type: unknown 'conv'; nearest: conv2d"},
      {with_layer("type = 'conv2d'\nkernel = 3"), "layer 1 (conv2d): units: is missing"},
      {with_layer("type = 'conv2d'\nunits = 0\nkernel = 3"), "layer 1 (conv2d): units: must be a whole"},
      {with_layer("type = 'conv2d'\nunits = -4\nkernel = 3"), "layer 1 (conv2d): units: must be a whole"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = '3'"), "layer 1 (conv2d): kernel: must be a whole"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 4"), "layer 1 (conv1): kernel 4 is even"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\nstride = 0"), "layer 1 (conv2d): stride: must be"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernal = 3"),
       "layer 1 (conv2d): key: unknown 'kernal'; nearest: kernel"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\ninitial = 'hee'"),
       "initial: unknown 'hee'; nearest: he"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\ndroppable = 1"),
       "droppable: must be true or false"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\nname = 'a.b'"),
       "the name 'a.b' must be 1 to 64 letters"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\nname = ''"), "layer 1 (conv2d): name: is empty"},
      {with_layer("type = 'conv2d'\nunits = 4\nkernel = 3\nname = 'dense1'") + "name = 'dense1'",
       "layer 3 (dense1): another layer is called 'dense1' too"},
      {with_layer("type = 'conv2d'\nunits = 16777216\nkernel = 1"), "16777216x8x8 are too many values"},
      {with_layer("type = 'conv2d'\nunits = 99999999\nkernel = 1"), "layer 1 (conv1): units is 99999999"},
      {with_layer("type = 'conv2d'\nunits = 8\nkernel = 16777215"),
       "layer 1 (conv1): the model has 2.25e+15"},
      {with_layer("type = 'flatten'\n[[layer]]\ntype = 'dense'\nunits = 16777216\n[[layer]]\ntype = "
                  "'dense'\nunits = 1000"),
       "layer 3 (dense2): the model has 1.79e+10 parameters up to here; at most 2147483648"},
      {with_layer("type = 'dense'\nunits = 4"),
       "layer 1 (dense1): a dense layer takes a flat input or a sequence, not 1x8x8"},
      {with_layer("type = 'maxpool'\nkernel = 9"),
       "layer 1 (maxpool): a window of 9x9 does not fit into 8x8; kernel can be at most 8"},
      {with_layer("type = 'lstm'\nunits = 4"), "layer 1 (lstm1): an lstm layer reads a sequence"},
      {with_layer("type = 'embedding'\nunits = 4\nsymbols = 5"),
       "layer 1 (embedding1): an embedding reads one symbol per step"},
      {"input = [1, 8, 1]\nlayer = [{ type = 'relu' }, { type = 'embedding', units = 4, symbols = 5 }, { "
       "type = "
       "'flatten' }, { type = 'dense', units = 3 }]",
       "layer 2 (embedding1): an embedding reads the input's symbols, so it must be the first"},
      {"input = [1, 8, 1]\nlayer = [{ type = 'embedding', units = 4, symbols = 5 }, { type = 'embedding', "
       "units = 4, symbols = 6, inputs = 'input' }, { type = 'add', inputs = ['embedding1', 'embedding2'] }, "
       "{ type = 'flatten' }, { type = 'dense', units = 3 }]",
       "layer 2 (embedding2): an embedding reads the input's symbols, so it must be the first"},
      {with_layer("type = 'relu'\ndroppable = true"),
       "layer 1 (relu): a relu layer has no units, so it cannot be"},
      {with_layer("type = 'relu'") + "droppable = true",
       "layer 3 (dense1): the last layer's units are the classes"},
      {input + "[[layer]]\ntype = 'flatten'", "net: no layer has units"},
      {input + "[[layer]]\ntype = 'conv2d'\nunits = 3\nkernel = 3",
       "layer 1 (conv1): the model ends in 3x8x8"},
      {input + "layer = [{ type = 'flatten' }, { type = 'dense', units = 1 }]",
       "layer 2 (dense1): there is 1 class, and a choice needs 2"},
      {"input = [1, 8, 1]\nlayer = [{ type = 'embedding', units = 2, symbols = 4 }, { type = 'lstm', units = "
       "3 }, { type = 'dense', units = 5 }]",
       "layer 3 (dense1): the model ends in 5x8x1, not in one number per class or, at every step, one per "
       "symbol; "
       "end it with avgpool, or with flatten and a dense layer"},
      {input + "layer = [{ type = 'conv2d', units = 4, kernel = 3, inputs = 'conv2' }, { type = 'conv2d', "
               "units = 4, "
               "kernel = 3 }]",
       "layer 1 (conv2d): inputs: 'conv2' is not above this layer"},
      {input + "layer = [{ type = 'conv2d', units = 4, kernel = 3, inputs = 'conv7' }]",
       "layer 1 (conv2d): inputs: unknown 'conv7'"},
      {input + "layer = [{ type = 'conv2d', units = 4, kernel = 3 }, { type = 'conv2d', units = 4, kernel = "
               "3, inputs = "
               "'input' }, { type = 'avgpool' }, { type = 'dense', units = 3 }]",
       "layer 1 (conv1): no layer reads it"},
      {input + "layer = [{ type = 'conv2d', units = 4, kernel = 3 }, { type = 'conv2d', units = 5, kernel = "
               "3 }, { type "
               "= 'add', inputs = ['conv1', 'conv2'] }, { type = 'avgpool' }, { type = 'dense', units = 3 }]",
       "layer 3 (add): adds layer 1 (conv1) (4x8x8) and layer 2 (conv2) (5x8x8); they must have the same "
       "shape"},
      {input + "layer = [{ type = 'conv2d', units = 4, kernel = 3, droppable = true }, { type = 'conv2d', "
               "units = 4, "
               "kernel = 3, droppable = false }, { type = 'add', inputs = ['conv1', 'conv2'] }, { type = "
               "'avgpool' }, { "
               "type = 'dense', units = 3 }]",
       "they must be alike"},
      {with_layer("type = 'add'"), "layer 1 (add): adds one value alone; name two or more"},
      {with_layer("type = 'relu'\ninputs = ['input', 'input']"),
       "layer 1 (relu): a relu layer reads one value, not 2"},
      {with_layer("type = 'conv2d'\nunits = 6\nkernel = 3\ngroups = 4"),
       "layer 1 (conv1): groups = 4 and units = 6, but 1 channels come in; a depthwise convolution has as "
       "many groups"},
      {with_layer("type = 'groupnorm'\ngroups = 3"),
       "layer 1 (norm1): 1 channels cannot be 3 groups of the same size; 1"},
      {with_layer("type = 'attention'\nheads = 2\nhead_units = 3"),
       "layer 1 (attention1): an attention layer reads a sequence"},
      {with_layer("type = 'maxpool'\nkernel = 3\nstride = 0"),
       "layer 1 (maxpool): stride is 0; it must be 1 or more"},
      {with_layer("type = 'maxpool'\nkernel = 3\npadding = 3"),
       "layer 1 (maxpool): padding 3 leaves windows of 3 without"},
      {with_layer("type = 'conv2d'\nunits = 6\nkernel = 2"),
       "layer 1 (conv1): kernel 2 is even, and no padding keeps"},
      {"vocabulary = 'abc'\n" + with_layer("type = 'relu'"),
       "vocabulary: 3 characters and one symbol for all others make 4"},
      {"vocabulary = 'aa'\n" + with_layer("type = 'relu'"),
       "vocabulary: must be ASCII characters, each of them once"},
  };
  for (const Bad& bad : files) {
    const std::string complaint = complaint_about(bad.text);
    EXPECT_TRUE(complaint.starts_with("net.toml: ")) << bad.text << "\n" << complaint;
    EXPECT_NE(complaint.find(bad.complaint), std::string::npos) << bad.text << "\n" << complaint;
    EXPECT_EQ(complaint.find('\n'), std::string::npos) << complaint;
  }
}

TEST(ModelFile, AFieldThatTheTypeDoesNotUseIsAnError) {
  ModelSpec model = find_model("emnist-mlp");
  model.layers[1].stride = 2;
  EXPECT_THROW(check_model(model), Error);
  model = find_model("emnist-mlp");
  model.layers[2].droppable = true;
  EXPECT_THROW(check_model(model), Error);
}

TEST(ModelFile, AFileWinsAndTwoChosenModelsAreAnError) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "mine.toml";
  write_file(path, with_layer("type = 'relu'"));
  EXPECT_EQ(resolve_model({}), find_model("emnist-cnn"));
  EXPECT_EQ(resolve_model({.name = "emnist-mlp"}), find_model("emnist-mlp"));
  EXPECT_EQ(resolve_model({.file = path}).name, "mine");
  EXPECT_EQ(resolve_model({.name = "mine", .file = path}).name, "mine");
  EXPECT_THROW(resolve_model({.name = "emnist-mlp", .file = path}), Error);
  EXPECT_THROW(resolve_model({.file = folder / "none.toml"}), Error);
  EXPECT_THROW(resolve_model({.name = "mine"}), Error);
}

TEST(ModelFile, AChangedModelOfTheZooNeedsANewName) {
  const TemporaryFolder folder;
  ModelSpec model = find_model("emnist-mlp");
  write_file(folder / "same.toml", model_toml(model));
  EXPECT_EQ(load_model_file(folder / "same.toml"), model);
  model.layers[3].units = 64;
  write_file(folder / "changed.toml", model_toml(model));
  EXPECT_THROW(load_model_file(folder / "changed.toml"), Error);
  model.name = "smaller-mlp";
  write_file(folder / "changed.toml", model_toml(model));
  EXPECT_EQ(load_model_file(folder / "changed.toml"), model);
}

TEST(ModelFile, TheExamplesOfTheRepositoryWork) {
  const std::filesystem::path folder = std::filesystem::path(SUBFLEET_SOURCE_DIR) / "experiments" / "models";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const ModelSpec model = load_model_file(entry.path());
    EXPECT_FALSE(droppable_groups(model).empty()) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 0u);
}

TEST(ModelFile, TheManualKnowsEveryLayerAndKey) {
  const std::string manual = read_file(std::filesystem::path(SUBFLEET_SOURCE_DIR) / "docs" / "models.md");
  for (const std::string& name : layer_type_names()) {
    EXPECT_NE(manual.find("`" + name + "`"), std::string::npos) << name;
    for (const LayerField& field : layer_type(name).fields()) {
      EXPECT_NE(manual.find(fmt::format("`{}`", field.key)), std::string::npos) << name << " " << field.key;
    }
  }
}

}  // namespace
}  // namespace subfleet
