#include "subfleet/store/run_folder.h"

#include <gtest/gtest.h>

#include <array>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

fs::path make_run(const fs::path& folder, const std::string& config = "[code]\nfamily = \"gold\"\n") {
  make_folder(folder);
  write_file(folder / "config.toml", config);
  write_file(folder / "rounds.jsonl", to_json_line({.round = 1, .test_accuracy = 0.5}));
  return folder;
}

TEST(RunFolder, ReadsWhatTheSearchBeforeItCost) {
  const TemporaryFolder folder;
  make_run(folder / "a");
  EXPECT_EQ(load_run(folder / "a").search_bytes, 0U);
  write_file(folder / "a" / "tune.json", R"({"cost": {"rounds": 3, "bytes": 1234}})");
  EXPECT_EQ(load_run(folder / "a").search_bytes, 1234U);
  for (const char* bad : {"", "[]", "{}", R"({"cost": 3})", R"({"cost": {"bytes": -1}})"}) {
    write_file(folder / "a" / "tune.json", bad);
    EXPECT_THROW(load_run(folder / "a"), Error) << bad;
  }
}

TEST(RunFolder, ReadsTheLogAndTheSettingsAsTheyStand) {
  const TemporaryFolder folder;
  const RunSummary run = load_run(make_run(folder / "full", "[code]\nfamily = \"gold\"  # of all\n"));
  EXPECT_EQ(run.name, "full");
  EXPECT_EQ(run.config, "[code]\nfamily = \"gold\"  # of all\n");
  ASSERT_EQ(run.rounds.size(), 1U);
  EXPECT_EQ(run.rounds[0].test_accuracy, 0.5);
}

TEST(RunFolder, ANameStaysOnItsLine) {
  const TemporaryFolder folder;
  EXPECT_EQ(load_run(make_run(folder / "two\nlines\tand\x1b")).name, "two?lines?and?");
}

TEST(RunFolder, ASearchThatWasNotTrainedOnSaysHow) {
  const TemporaryFolder folder;
  for (const char* file : {"tune.toml", "tune.json"}) {
    const fs::path search = folder / (std::string("of ") + file);
    make_folder(search);
    write_file(search / file, "");
    try {
      load_run(search);
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("tune --resume " + search.string() + " --train"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(RunFolder, ARunThatHasJustBegunHasNoRounds) {
  const TemporaryFolder folder;
  write_file(folder / "config.toml", "");
  EXPECT_TRUE(load_run(folder.path()).rounds.empty());
}

TEST(RunFolder, WhatIsNoRunFolderIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THROW(load_run(folder.path()), Error);
  EXPECT_THROW(load_run(folder / "missing"), Error);
  write_file(folder / "file", "");
  EXPECT_THROW(load_run(folder / "file"), Error);
}

TEST(RunFolder, EqualNamesAreToldApartAndTheSameFolderTwiceIsAnError) {
  const TemporaryFolder folder;
  const std::array paths{make_run(folder / "a/gold"), make_run(folder / "b/gold"),
                         make_run(folder / "b/none")};
  const auto runs = load_runs(paths);
  EXPECT_EQ(runs[0].name, "a/gold");
  EXPECT_EQ(runs[1].name, "b/gold");
  EXPECT_EQ(runs[2].name, "none");
  EXPECT_THROW(load_runs(std::array{paths[0], folder / "b/../a/gold/"}), Error);
}

TEST(RunFolder, ASettingsFileThatWouldHurtIsAnError) {
  const TemporaryFolder folder;
  make_folder(folder / "endless");
  fs::create_symlink("/dev/zero", folder / "endless" / "config.toml");
  EXPECT_THROW(load_run(folder / "endless"), Error);
}

TEST(RunFolder, ASearchHasACostThatCanBeAdded) {
  EXPECT_EQ(parse_search_bytes(R"({"cost":{"bytes":12}})", "tune.json"), 12U);
  for (const char* text : {"", "{}", R"({"cost":3})", R"({"cost":{"bytes":-1}})", R"({"cost":{"bytes":1.5}})",
                           R"({"cost":{"bytes":18446744073709551615}})"}) {
    EXPECT_THROW(parse_search_bytes(text, "tune.json"), Error) << text;
  }
  EXPECT_EQ(parse_search_bytes(R"({"format":1,"cost":{"bytes":12}})", "tune.json"), 12U);
  try {
    parse_search_bytes(R"({"format":2,"cost":{"bytes":12}})", "tune.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "tune.json: written by a newer Subfleet (format 2; this one reads up to 1): update Subfleet");
  }
}

}  // namespace
}  // namespace subfleet
