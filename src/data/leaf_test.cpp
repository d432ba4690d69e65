#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/complaint_testing.h"
#include "model/vocabulary.h"
#include "python_data.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

std::string picture(const std::string& pixel = "0.5", size_t pixels = 784) {
  return fmt::format("[{}]", fmt::join(std::vector<std::string>(pixels, pixel), ", "));
}

// A user of so many pictures, as it stands in user_data.
std::string user(const std::string& name, const std::vector<int>& labels) {
  return fmt::format(R"("{}": {{"x": [{}], "y": [{}]}})", name,
                     fmt::join(std::vector<std::string>(labels.size(), picture()), ", "),
                     fmt::join(labels, ", "));
}

class LeafFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  // One user "a" with that as user_data.
  void write_user(const std::string& data, int samples = 1) const {
    write("a.json",
          fmt::format(R"({{"users": ["a"], "num_samples": [{}], "user_data": {{"a": {}}}}})", samples, data));
  }

  DataOptions options() const { return {.source = "leaf", .path = folder_.path()}; }
  std::string complaint() const { return complaint_about(options()); }

  TemporaryFolder folder_;
};

#define EXPECT_SAYS(message, part) EXPECT_PRED2(says, message, part)
bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST_F(LeafFiles, ReadsWhatPythonWritesWithItsOwnSplit) {
  if (!write_python_data("leaf-femnist", folder_.path())) GTEST_SKIP() << "python3 is absent";
  DataOptions raw = options();
  raw.raw_polarity = true;
  const SplitFederation data = open_split_federation(raw);
  EXPECT_EQ(data.all().input(), (Shape{1, 28, 28}));
  ASSERT_EQ(data.clients(), 3u);
  const std::vector<uint32_t> train{4, 3, 5}, test{1, 2, 1};
  uint32_t tests = 0;
  for (uint32_t client = 0; client < 3; ++client) {
    EXPECT_EQ(data.train_samples(client), train[client]);
    EXPECT_EQ(data.train(client).count(), train[client]);
    EXPECT_EQ(data.test(client).count(), test[client]);
    const Examples tested = data.test(client);
    EXPECT_EQ(tested.labels.front(), written_label(client, train[client]));
    const Examples all = data.all().load(client);
    for (size_t i = 0; i < all.count(); ++i) {
      EXPECT_EQ(all.labels[i], written_label(client, i));
      for (size_t place = 0; place < 784; ++place) {
        ASSERT_EQ(all.input(i)[place], static_cast<float>(written_pixel(client, i, place)) / 255.0f);
      }
    }
    tests += test[client];
  }
  EXPECT_EQ(data.test_set(0).count(), tests);
  EXPECT_FLOAT_EQ(open_federation(options())->load(1).input(1)[2],
                  1 - static_cast<float>(written_pixel(1, 1, 2)) / 255);
  EXPECT_NE(open_federation(options())->fingerprint(), data.all().fingerprint());
  EXPECT_EQ(open_federation(raw)->fingerprint(), data.all().fingerprint());
}

TEST_F(LeafFiles, ReadsTextThatPythonWrites) {
  if (!write_python_data("leaf-shakespeare", folder_.path())) GTEST_SKIP() << "python3 is absent";
  const SplitFederation data = open_split_federation(options());
  EXPECT_EQ(data.all().input(), (Shape{1, 80, 1}));
  EXPECT_EQ(data.all().classes(), kSymbols);
  EXPECT_EQ(data.all().class_name(1), "space");
  const std::string text =
      "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer the slings ";
  const Examples first = data.train(2);
  ASSERT_EQ(first.count(), 5u);
  for (size_t i = 0; i < first.count(); ++i) {
    for (size_t at = 0; at < 80; ++at) {
      EXPECT_EQ(first.input(i)[at], kSymbolOf[static_cast<uint8_t>(text[i + at])]);
    }
    EXPECT_EQ(first.labels[i], kSymbolOf[static_cast<uint8_t>(text[i + 80])]);
  }
}

TEST_F(LeafFiles, CharactersOfSeveralBytesAreOneUnknownSymbol) {
  write_user(fmt::format(R"({{"x": ["\u00e9{}"], "y": ["\u20ac"]}})", std::string(79, 'a')));
  const Examples examples = open_federation(options())->load(0);
  EXPECT_EQ(examples.input(0)[0], kUnknownSymbol);
  EXPECT_EQ(examples.input(0)[1], kSymbolOf['a']);
  EXPECT_EQ(examples.labels[0], static_cast<int32_t>(kUnknownSymbol));
}

TEST_F(LeafFiles, WithoutASplitOfTheirOwnTheyAreSplitLikeOthers) {
  write("b.json",
        fmt::format(R"({{"users": ["z"], "num_samples": [2], "user_data": {{{}}}}})", user("z", {1, 2})));
  write("a.json", fmt::format(R"({{"user_data": {{{}, {}}}, "num_samples": [1, 3], "users": ["y", "m"]}})",
                              user("m", {3, 4, 5}), user("y", {6})));
  DataOptions half = options();
  half.test_fraction = 0.5;
  const SplitFederation data = open_split_federation(half);
  ASSERT_EQ(data.clients(), 3u);
  EXPECT_EQ(data.all().load(0).labels, (std::vector<int32_t>{3, 4, 5})) << "sorted by name: m, y, z";
  EXPECT_EQ(data.all().load(1).labels, (std::vector<int32_t>{6}));
  EXPECT_EQ(data.train_samples(2), 1u);
  half.min_samples = 2;
  EXPECT_EQ(open_federation(half)->clients(), 2u);
  half.min_samples = 4;
  EXPECT_SAYS(complaint_about(half), "data.min_samples: none of the 3 users has 4 examples; the most is 3");
  half.min_samples = 0;
  half.path = folder_ / "b.json";
  EXPECT_EQ(open_federation(half)->clients(), 1u) << "one file is a data set, too";
}

TEST_F(LeafFiles, FoldersThatAreNoDataSetSayWhatIsMissing) {
  EXPECT_SAYS(complaint_about({.source = "leaf"}), "data.path: is not set");
  EXPECT_SAYS(complaint(), "holds no file *.json");
  fs::create_directory(folder_ / "train");
  EXPECT_SAYS(complaint(), "holds a folder train but no test");
  fs::create_directory(folder_ / "test");
  EXPECT_SAYS(complaint(), "train: holds no file *.json");
  write("train/a.json", R"({"users": [], "num_samples": [], "user_data": {}})");
  write("test/a.json", R"({"users": [], "num_samples": [], "user_data": {}})");
  EXPECT_SAYS(complaint(), "holds no users");
}

TEST_F(LeafFiles, UsersTwiceOrOnlyForTestingAreRefused) {
  const std::string one =
      fmt::format(R"({{"users": ["a"], "num_samples": [1], "user_data": {{{}}}}})", user("a", {1}));
  const std::string other =
      fmt::format(R"({{"users": ["b"], "num_samples": [1], "user_data": {{{}}}}})", user("b", {1}));
  write("train/1.json", one);
  write("test/1.json", one);
  EXPECT_EQ(open_federation(options())->clients(), 1u);
  write("test/2.json", one);
  EXPECT_SAYS(complaint(), "test/2.json: user 'a' appears twice");
  write("test/2.json", other);
  EXPECT_SAYS(complaint(), "user 'b' has examples for testing but none for training");
  write("train/2.json", one);
  EXPECT_SAYS(complaint(), "train/2.json: user 'a' appears twice");
}

TEST_F(LeafFiles, WrongUsersAreNamed) {
  write_user(R"({"x": [], "y": []})", 0);
  EXPECT_SAYS(complaint(), "a.json: user 'a' has no examples");
  write_user(R"({"x": []})", 0);
  EXPECT_SAYS(complaint(), "user 'a' has no y");
  write_user(fmt::format(R"({{"x": [{}], "y": [1, 2]}})", picture()));
  EXPECT_SAYS(complaint(), "1 x and 2 y");
  write_user(fmt::format(R"({{"x": [{}], "y": [1]}})", picture()), 2);
  EXPECT_SAYS(complaint(), "has 1 examples; its num_samples is 2");
  write("a.json", R"({"users": ["a", "b"], "num_samples": [1], "user_data": {}})");
  EXPECT_SAYS(complaint(), "names 2 users and 1 num_samples, and has user_data of 0");
  write("a.json",
        fmt::format(R"({{"users": ["b"], "num_samples": [1], "user_data": {{{}}}}})", user("a", {1})));
  EXPECT_SAYS(complaint(), "user 'b' has no user_data");
  write_user(fmt::format(R"({{"x": [{}], "y": ["a"]}})", picture()));
  EXPECT_SAYS(complaint(), "mixes pictures and text");
}

TEST_F(LeafFiles, WrongPicturesAndLabelsAreNamed) {
  for (const size_t pixels : {783u, 785u, 0u}) {
    write_user(fmt::format(R"({{"x": [{}], "y": [1]}})", picture("1.0", pixels)));
    EXPECT_SAYS(complaint(), "784 pixels, 28 x 28");
  }
  for (const char* pixel : {"-0.1", "1.01", "255"}) {
    write_user(fmt::format(R"({{"x": [{}], "y": [1]}})", picture(pixel)));
    EXPECT_SAYS(complaint(), "pixels are from 0 to 1");
  }
  write_user(fmt::format(R"({{"x": [{}], "y": [1]}})", picture("NaN")));
  EXPECT_SAYS(complaint(), "invalid literal");
  EXPECT_SAYS(complaint(), "; pixels are from 0 to 1");
  write_user(fmt::format(R"({{"x": [{}], "y": [1]}})", picture("1e999")));
  EXPECT_SAYS(complaint(), "which is too large for any number; pixels are from 0 to 1");
  write_user(fmt::format(R"({{"x": [{}], "y": [1e999]}})", picture()));
  EXPECT_SAYS(complaint(), "which is too large for any number; labels are whole numbers from 0 to 61");
  write("a.json", R"({"users": ["a"], "num_samples": [1e999]})");
  EXPECT_EQ(complaint().find("pixels"), std::string::npos) << complaint();
  for (const char* label : {"62", "-1", "1.5", "1e300"}) {
    write_user(fmt::format(R"({{"x": [{}], "y": [{}]}})", picture(), label));
    EXPECT_SAYS(complaint(), "labels are whole numbers from 0 to 61");
  }
  write_user(R"({"x": ["short"], "y": ["a"]})");
  EXPECT_SAYS(complaint(), "a text of 5 characters at example 0; expected 80");
  write_user(fmt::format(R"({{"x": ["{}"], "y": ["ab"]}})", std::string(80, 'a')));
  EXPECT_SAYS(complaint(), "a label of 2 characters");
}

TEST_F(LeafFiles, WhatIsNotLeafSaysWhatWouldBe) {
  for (const char* text :
       {"[1, 2]", "3", R"({"users": {}})", R"({"user_data": []})", R"({"user_data": {"a": 1}})",
        R"({"user_data": {"a": {"x": 1}}})", R"({"users": [null]})", R"({"user_data": {"a": {"x": [{}]}}})",
        R"({"num_samples": [true]})"}) {
    write("a.json", text);
    EXPECT_SAYS(complaint(), "in the wrong place; expected {\"users\": [\"a\"]") << text;
  }
}

TEST_F(LeafFiles, EveryTruncationIsRefused) {
  const std::string whole = fmt::format(
      R"({{"users": ["a"], "hierarchies": [{{"b": [1]}}], "num_samples": [1], "user_data": {{"a": {{"x": ["{}"], "y": ["b"]}}}}}})",
      std::string(80, 'a'));
  write("a.json", whole);
  EXPECT_EQ(open_federation(options())->clients(), 1u);
  for (size_t length = 0; length < whole.size(); ++length) {
    write("a.json", whole.substr(0, length));
    EXPECT_SAYS(complaint(), "is not whole JSON at byte");
  }
  write("a.json", whole + "]");
  EXPECT_SAYS(complaint(), "is not whole JSON");
}

}  // namespace
}  // namespace subfleet
