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

TEST(RunFolder, ReadsSettingsAndToleratesMissingOnes) {
  const TemporaryFolder folder;
  const auto full = load_run(
      make_run(folder / "full",
               "[model]\nname = \"emnist62\"\n[code]\nfamily = \"gold\"\nkeep = 0.5\n"
               "[server]\noptimizer = \"fedadam\"\nlr = 1\n[round]\nclients = 35\n[run]\nseed = 7\n"));
  EXPECT_EQ(full.name, "full");
  EXPECT_EQ(full.model, "emnist62");
  EXPECT_EQ(full.family, "gold");
  EXPECT_EQ(full.keep, 0.5);
  EXPECT_EQ(full.optimizer, "fedadam");
  EXPECT_EQ(full.server_lr, 1.0);
  EXPECT_EQ(full.clients, 35);
  EXPECT_EQ(full.seed, 7);
  ASSERT_EQ(full.rounds.size(), 1U);
  EXPECT_EQ(full.rounds[0].test_accuracy, 0.5);
  const auto bare = load_run(make_run(folder / "bare", ""));
  EXPECT_EQ(bare.family, "");
  EXPECT_FALSE(bare.keep || bare.seed);
}

TEST(RunFolder, SettingsHaveDottedKeysAndReadAsPeopleWriteThem) {
  const TemporaryFolder folder;
  const auto run = load_run(make_run(folder / "a",
                                     "[code]\nfamily = \"go\\nld\"\ntiers = [1.0, 0.5]\n"
                                     "[code.layers.conv2]\nkeep = 0.25\n[data]\nraw_polarity = false\n"
                                     "[run]\nseed = 7\n[server]\nlr = 1.0\n"));
  EXPECT_EQ(run.settings, (std::map<std::string, std::string>{{"code.family", "go?ld"},
                                                              {"code.layers.conv2.keep", "0.25"},
                                                              {"code.tiers", "[1, 0.5]"},
                                                              {"data.raw_polarity", "false"},
                                                              {"run.seed", "7"},
                                                              {"server.lr", "1"}}));
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
  EXPECT_THROW(load_run(make_run(folder / "broken", "[code\n")), Error);
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
  std::string key = "a";
  for (int i = 0; i < 40'000; ++i) key += ".a";
  EXPECT_THROW(load_run(make_run(folder / "deep", key + " = 1")), Error);
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
