// The model command as a user meets it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/model.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

TEST(ModelCommand, ShowsTheWholeNetworkAndItsHalf) {
  const Outcome outcome = run_program({"model", "emnist-cnn"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* text : {"6,603,710", "1,696,670", "26.4 MB", "25.7 %", "conv2", "64x14x14", "6,424,576"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(outcome.out.find(" \n"), std::string::npos) << "blanks at the end of a line";
}

TEST(ModelCommand, WithoutAModelListsTheZoo) {
  const Outcome outcome = run_program({"model"});
  const Json list = Json::parse(run_program({"model", "--json"}).out);
  ASSERT_EQ(list.size(), model_names().size());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].at("name"), model_names()[i]);
    EXPECT_EQ(list[i].at("parameters"), parameter_count(find_model(model_names()[i])));
    EXPECT_NE(outcome.out.find(model_names()[i]), std::string::npos);
  }
}

TEST(ModelCommand, EveryModelOfTheZooCanBeSavedAndShown) {
  const TemporaryFolder folder;
  for (const std::string& name : model_names()) {
    const std::filesystem::path file = folder / "mine.toml";
    write_file(file, run_program({"model", name, "--toml"}).out);
    EXPECT_EQ(load_model_file(file), find_model(name));
    const Json shown = Json::parse(run_program({"model", file.string(), "--json", "--keep", "0.5"}).out);
    const Json expected = Json::parse(run_program({"model", name, "--json", "--keep", "0.5"}).out);
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(shown.at("sizes").size(), 1u);
    EXPECT_EQ(shown.at("layers").size(), find_model(name).layers.size());
  }
}

TEST(ModelCommand, OfANetworkWithShortcutsShowsWhoReadsWhomAndTheGroupsOfUnits) {
  const Outcome outcome = run_program({"model", "resnet18", "--keep", "0.5", "--batch", "20"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* text :
       {"11,173,962", "block2_norm2", "10, 15", "conv1 block1_conv2 block2_conv2", "batch of 20"}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(run_program({"model", "emnist-cnn"}).out.find("reads"), std::string::npos) << "a chain";
  const Json shown = Json::parse(run_program({"model", "resnet18", "--json", "--keep", "0.5"}).out);
  EXPECT_EQ(shown.at("groups").size(), 13u);
  EXPECT_EQ(shown.at("groups")[0].at("layers").size(), 3u);
  EXPECT_EQ(shown.at("layers")[8].at("inputs"), (std::vector<int>{3, 8}));
}

TEST(ModelCommand, WhatIsWrongIsOneLine) {
  const TemporaryFolder folder;
  const std::string file = (folder / "bad.toml").string();
  write_file(file, "input = [1, 8, 8]\nlayer = [{ type = 'dense', units = 4 }]\n");
  expect_one_line_error(run_program({"model", file}), 2,
                        "layer 1 (dense1): a dense layer takes a flat input");
  expect_one_line_error(run_program({"model", "emnist-cn"}), 2, "nearest: emnist-cnn");
  expect_one_line_error(run_program({"model", "emnist-cnn", "--keep", "0"}), 2, "--keep");
  expect_one_line_error(run_program({"model", "--toml"}), 2, "which model");
  write_file(file, "name = \"a\\u001b[31m\"\ninput = [1, 8, 8]\n");
  expect_one_line_error(run_program({"model", file}), 2, "letters, digits");
}

}  // namespace
}  // namespace subfleet
