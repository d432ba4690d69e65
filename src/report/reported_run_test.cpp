#include "subfleet/report/reported_run.h"

#include <gtest/gtest.h>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/store/saved_config.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

ReportedRun reported(const std::string& config) {
  RunSummary run;
  run.config = config;
  return reported_run(run);
}

TEST(ReportedRun, ReadsSettingsAndToleratesMissingOnes) {
  const auto full = reported(
      "[model]\nname = \"emnist62\"\n[code]\nfamily = \"gold\"\nkeep = 0.5\n"
      "[server]\noptimizer = \"fedadam\"\nlr = 1\n[round]\nclients = 35\n[run]\nseed = 7\n");
  EXPECT_EQ(full.model, "emnist62");
  EXPECT_EQ(full.family, "gold");
  EXPECT_EQ(full.keep, 0.5);
  EXPECT_EQ(full.optimizer, "fedadam");
  EXPECT_EQ(full.server_lr, 1.0);
  EXPECT_EQ(full.clients, 35);
  EXPECT_EQ(full.seed, 7);
  const auto bare = reported("");
  EXPECT_EQ(bare.family, "");
  EXPECT_FALSE(bare.keep || bare.seed);
}

TEST(ReportedRun, SettingsHaveDottedKeysAndReadAsPeopleWriteThem) {
  const auto run = reported(
      "[code]\nfamily = \"go\\nld\"\ntiers = [1.0, 0.5]\n"
      "[code.layers.conv2]\nkeep = 0.25\n[data]\nraw_polarity = false\n"
      "[run]\nseed = 7\n[server]\nlr = 1.0\n");
  EXPECT_EQ(run.settings, (std::map<std::string, std::string>{{"code.family", "go?ld"},
                                                              {"code.layers.conv2.keep", "0.25"},
                                                              {"code.tiers", "[1, 0.5]"},
                                                              {"data.raw_polarity", "false"},
                                                              {"run.seed", "7"},
                                                              {"server.lr", "1"}}));
}

TEST(ReportedRun, TellsApartWhatNoSettingNames) {
  const TemporaryFolder folder;
  RunSummary run;
  run.folder = folder.path();
  run.config = "[model]\nname = \"m\"\n";
  run.provenance =
      Provenance{.data = {.source = "idx", .clients = 1, .fingerprint = 0x1234567800000000},
                 .initial = {},
                 .sessions = {{}, {.from_round = 1, .version = "1", .device = "cuda", .kernels = ""}}};
  write_file(folder.path() / kModelFile, "one");
  const ReportedRun one = reported_run(run);
  EXPECT_EQ(one.settings.at("data (hash)"), "12345678");
  EXPECT_EQ(one.settings.at("--init"), "-");
  EXPECT_EQ(one.settings.at("--device"), "cuda") << "the last session's";
  write_file(folder.path() / kModelFile, "two");
  EXPECT_NE(reported_run(run).settings.at("model.file"), one.settings.at("model.file"));
}

TEST(ReportedRun, SettingsThatAreNoneOrWouldHurtAreAnError) {
  EXPECT_THROW(reported("[code\n"), Error);
  std::string key = "a";
  for (int i = 0; i < 40'000; ++i) key += ".a";
  EXPECT_THROW(reported(key + " = 1"), Error);
}

}  // namespace
}  // namespace subfleet
