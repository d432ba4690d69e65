#include "store/run_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/file.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

RunSummary run_with(const std::vector<std::optional<double>>& accuracies, uint64_t bytes_each_way = 10) {
  RunSummary run;
  for (const auto& accuracy : accuracies) {
    RoundRecord record;
    record.round = static_cast<uint32_t>(run.rounds.size() + 1);
    record.bytes_down = record.bytes_up = bytes_each_way;
    record.test_accuracy = accuracy;
    run.rounds.push_back(record);
  }
  return run;
}

fs::path make_run(const fs::path& folder, const std::string& config = "[code]\nfamily = \"gold\"\n") {
  make_folder(folder);
  write_file(folder / "config.toml", config);
  write_file(folder / "rounds.jsonl", to_json_line({.round = 1, .test_accuracy = 0.5}));
  return folder;
}

TEST(RunFolder, BytesToReachCountUpToTheFirstRoundThatReaches) {
  const auto run = run_with({std::nullopt, 0.3, std::nullopt, 0.6, 0.5, 0.7});
  EXPECT_EQ(bytes_to_reach(run, 0.3), 40U);
  EXPECT_EQ(bytes_to_reach(run, 0.31), 80U);
  EXPECT_EQ(bytes_to_reach(run, 0.6), 80U);
  EXPECT_EQ(bytes_to_reach(run, 0.65), 120U);
  EXPECT_EQ(bytes_to_reach(run, 0.71), std::nullopt);
  EXPECT_EQ(bytes_total(run), 120U);
}

TEST(RunFolder, AccuracyAtBytesLiesBetweenTheTestsAroundThem) {
  auto run = run_with({std::nullopt, 0.3, std::nullopt, 0.6, 0.5});
  EXPECT_EQ(accuracy_at(run, 39), std::nullopt);
  EXPECT_EQ(accuracy_at(run, 40), 0.3);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 50), 0.375);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 79), 0.5925) << "a test one byte later counts almost whole";
  EXPECT_EQ(accuracy_at(run, 80), 0.6);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 90), 0.55);
  EXPECT_EQ(accuracy_at(run, 1000), 0.5);
  run.search_bytes = 50;
  EXPECT_EQ(accuracy_at(run, 89), std::nullopt) << "the search came first";
  EXPECT_EQ(accuracy_at(run, 90), 0.3);
  EXPECT_EQ(bytes_to_reach(run, 0.3), 90U);
  EXPECT_EQ(bytes_total(run), 150U);
}

TEST(RunFolder, CommonBytesAreThoseAllRunsHaveATestFor) {
  std::array runs{run_with({0.2, 0.8}, 100), run_with({0.1, 0.3, 0.5, std::nullopt}),
                  run_with({std::nullopt})};
  EXPECT_EQ(common_bytes(runs), 60U);
  runs[1].search_bytes = 500;
  EXPECT_EQ(common_bytes(runs), 400U);
  EXPECT_EQ(common_bytes(std::array{run_with({})}), std::nullopt);
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

TEST(RunFolder, FinalIsTheLastMeasuredAndBestTheHighest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto run = run_with({0.3, 0.8, nan, 0.7, std::nullopt, nan});
  EXPECT_EQ(final_accuracy(run), 0.7);
  EXPECT_EQ(best_accuracy(run), 0.8);
  EXPECT_EQ(final_accuracy(run_with({std::nullopt})), std::nullopt);
  EXPECT_EQ(best_accuracy(run_with({nan})), std::nullopt);
}

TEST(RunFolder, CommonAccuracyIsAWholePercentageThatAllRunsReach) {
  const std::array runs{run_with({0.2, 0.866}), run_with({0.858, 0.84}), run_with({std::nullopt})};
  EXPECT_EQ(common_accuracy(runs), 0.85);
  for (int percent = 1; percent <= 100; ++percent) {
    const std::array one{run_with({percent / 100.0})};
    EXPECT_EQ(common_accuracy(one), percent / 100.0);
    EXPECT_TRUE(bytes_to_reach(one[0], *common_accuracy(one)));
  }
  EXPECT_EQ(common_accuracy(std::array{run_with({0.004})}), 0.004);
  EXPECT_EQ(common_accuracy(std::array{run_with({})}), std::nullopt);
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
}

}  // namespace
}  // namespace subfleet
