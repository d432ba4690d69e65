#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/vocabulary.h"
#include "subfleet/base/file.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// Text whose position can be told from its characters.
std::string counted_text(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + (i * i / 7 + i) % 26);
  return text;
}

std::string characters_of(std::span<const float> symbols) {
  std::string text;
  for (const float symbol : symbols) text += kVocabulary.at(static_cast<size_t>(symbol));
  return text;
}

std::string message_of(const DataOptions& options) {
  try {
    open_federation(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "";
}

class TextSource : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { write_file(folder_ / name, text); }
  DataOptions options() const { return {.source = "text", .path = folder_.path()}; }
  TemporaryFolder folder_;
};

TEST_F(TextSource, EveryWindowIsFollowedByItsNextCharacter) {
  const std::string text = counted_text(200);
  write("a.txt", text);
  for (const uint32_t step : {1u, 7u, 10u, 80u, 119u, 120u}) {
    DataOptions with_step = options();
    with_step.window_step = step;
    const auto data = open_federation(with_step);
    const Examples examples = data->load(0);
    ASSERT_EQ(examples.count(), data->samples(0));
    EXPECT_EQ(data->samples(0), 119 / step + 1) << step;  // begins at 0, step, ... up to 119
    for (size_t i = 0; i < examples.count(); ++i) {
      EXPECT_EQ(characters_of(examples.input(i)), text.substr(i * step, 80));
      EXPECT_EQ(kVocabulary.at(static_cast<size_t>(examples.labels[i])), text[i * step + 80]);
    }
  }
}

TEST_F(TextSource, AClientIsATextFileInTheOrderOfTheNames) {
  write("b.txt", "b" + counted_text(90));
  write("a.txt", "a" + counted_text(90));
  write("notes.md", counted_text(500));
  std::filesystem::create_directory(folder_ / "more");
  write("more/c.txt", "c" + counted_text(90));
  const auto data = open_federation(options());
  ASSERT_EQ(data->clients(), 3u);
  EXPECT_EQ(data->input(), (Shape{1, 80, 1}));
  EXPECT_EQ(data->classes(), 81u);
  for (uint32_t client = 0; client < 3; ++client) {
    EXPECT_EQ(characters_of(data->load(client).input(0)).front(), "abc"[client]);
  }
}

TEST_F(TextSource, ShortTextsAndThoseBelowMinSamplesAreLeftOut) {
  write("a.txt", counted_text(80));
  write("b.txt", counted_text(81));
  write("c.txt", counted_text(171));
  write("d.txt", "");
  EXPECT_EQ(open_federation(options())->clients(), 2u);
  DataOptions at_least = options();
  at_least.min_samples = 10;
  EXPECT_EQ(open_federation(at_least)->clients(), 1u);
  EXPECT_EQ(open_federation(at_least)->samples(0), 10u);
  at_least.min_samples = 11;
  EXPECT_NE(message_of(at_least).find("the most is 10"), std::string::npos) << message_of(at_least);
}

TEST_F(TextSource, EveryOtherByteIsTheUnknownSymbol) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  write("binary.txt", bytes);
  DataOptions every = options();
  every.window_step = 1;
  const auto data = open_federation(every);
  size_t unknown = 0;
  for (const int32_t label : data->load(0).labels) {
    ASSERT_LT(static_cast<uint32_t>(label), data->classes());
    unknown += static_cast<size_t>(label) == kUnknownSymbol ? 1 : 0;
  }
  // Bytes 80 to 255 are labels: P-Z [ ] a-z } are known, 40 of 176.
  EXPECT_EQ(unknown, 176u - 40u);
  EXPECT_EQ(data->class_name(kUnknownSymbol), "other");
  EXPECT_EQ(data->class_name(0), "newline");
  EXPECT_EQ(data->class_name(kSymbolOf['Q']), "Q");
}

TEST_F(TextSource, WhatCannotBeReadIsAClearError) {
  EXPECT_NE(message_of(options()).find("holds no file *.txt"), std::string::npos);
  EXPECT_NE(message_of({.source = "text"}).find("data.path"), std::string::npos);
  EXPECT_NE(message_of({.source = "text", .path = folder_ / "none"}).find("cannot be searched"),
            std::string::npos);
  write("a.txt", counted_text(50));
  EXPECT_NE(message_of(options()).find("the most is 0"), std::string::npos);
  EXPECT_NE(message_of({.source = "text", .path = folder_ / "a.txt"}).find("cannot be searched"),
            std::string::npos);
  DataOptions nowhere = options();
  nowhere.window_step = 0;
  EXPECT_NE(message_of(nowhere).find("data.window_step"), std::string::npos);
}

TEST(Shakespeare, HasTheRolesAndCharactersOfItsDescription) {
  const std::filesystem::path folder = SUBFLEET_SOURCE_DIR "/../shared/data/shakespeare";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const auto data = open_federation({.source = "text", .path = folder, .window_step = 1});
  EXPECT_GT(data->clients(), 1000u);
  EXPECT_LE(data->clients(), 1165u);
  uint64_t characters = 0, unknown = 0;
  for (uint32_t client = 0; client < data->clients(); ++client) characters += data->samples(client) + 80;
  EXPECT_NEAR(static_cast<double>(characters), 4.3e6, 0.1e6);
  for (uint32_t client = 0; client < 50; ++client) {
    for (const int32_t label : data->load(client).labels) unknown += label == kUnknownSymbol ? 1 : 0;
  }
  EXPECT_LT(unknown, 10u) << "the character set is made for this text";
}

}  // namespace
}  // namespace subfleet
