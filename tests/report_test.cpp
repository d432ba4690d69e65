#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "environment.h"
#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/round_log.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

TEST(ReportCommand, KeepsEveryFileThatIsNotItsOwn) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  make_folder(run);
  const std::string log = to_json_line({.round = 1, .test_accuracy = 0.5});
  write_file(folder / "run" / "rounds.jsonl", log);
  write_file(folder / "notes.svg", "mine");
  const auto refused = [&](const std::vector<std::string>& options) {
    const Outcome outcome = run_program(with({"report", run}, options));
    EXPECT_EQ(outcome.out, "") << "nothing is done before it is refused";
    return outcome.status == 2;
  };
  EXPECT_TRUE(refused({"--out", run + "/rounds.jsonl"}));
  EXPECT_TRUE(refused({"--svg", (folder / "notes.svg").string()}));
  EXPECT_TRUE(refused({"--out", run + "/a.html", "--svg", run + "/./a.html"}));
  EXPECT_EQ(read_file(folder / "run" / "rounds.jsonl"), log);
  EXPECT_EQ(read_file(folder / "notes.svg"), "mine");

  EXPECT_EQ(run_program({"report", run}).status, 0);
  EXPECT_EQ(run_program({"report", run}).status, 0) << "its own page is replaced";
  write_file(folder / "run" / "report.html", "mine");
  EXPECT_TRUE(refused({}));
  EXPECT_EQ(read_file(folder / "run" / "report.html"), "mine");
}

TEST(ReportCommand, ShowsTheSettingsThatDiffer) {
  const TemporaryFolder folder;
  for (const char* keep : {"0.5", "0.25"}) {
    make_folder(folder / keep);
    write_file(folder / keep / "rounds.jsonl", to_json_line({.round = 1, .test_accuracy = 0.5}));
    write_file(folder / keep / "config.toml",
               std::string("[code]\nfamily = \"cwc\"\n[code.layers.conv2]\nkeep = ") + keep + "\n");
  }
  const Outcome outcome = run_program({"report", (folder / "0.5").string(), (folder / "0.25").string(),
                                       "--out", (folder / "page.html").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("code.layers.conv2.keep"), std::string::npos) << outcome.out;
}

TEST(ReportCommand, PrintsAsciiUnlessTheLocaleIsUtf8) {
  const TemporaryFolder folder;
  for (const char* seed : {"1", "2"}) {  // whose accuracy is a mean with an interval
    make_folder(folder / seed);
    write_file(folder / seed / "rounds.jsonl", to_json_line({.round = 1, .test_accuracy = 0.5}));
    write_file(folder / seed / "config.toml", std::string("[run]\nseed = ") + seed + "\n");
  }
  const auto printed = [&](const char* locale) {
    const Environment environment(Variables{{"LC_ALL", locale}});
    const Outcome outcome = run_program({"report", (folder / "1").string(), (folder / "2").string(), "--out",
                                         (folder / "page.html").string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_NE(printed("C.UTF-8").find("±"), std::string::npos);
  const std::string ascii = printed("C");
  EXPECT_NE(ascii.find("+-"), std::string::npos) << ascii;
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
      << ascii;
}

TEST(ReportCommand, WritesCsvAndLeavesOutTheFilesOfASweep) {
  const TemporaryFolder folder;
  make_folder(folder / "run-1");
  write_file(folder / "run-1" / "rounds.jsonl",
             to_json_line({.round = 3, .bytes_up = 8, .test_accuracy = 0.5}));
  write_file(folder / "results.json", "{}");
  const std::string csv = (folder / "tests.csv").string();
  const auto outcome = run_program({"report", (folder / "results.json").string(), (folder / "run-1").string(),
                                    "--csv", csv, "--out", (folder / "page.html").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(read_file(csv).find("run-1,,,,3,8,0.5,0,,0\n"), std::string::npos) << read_file(csv);
  write_file(csv, "mine");
  EXPECT_EQ(run_program({"report", (folder / "run-1").string(), "--csv", csv}).status, 2);
  EXPECT_EQ(read_file(csv), "mine");
  EXPECT_EQ(run_program({"report", (folder / "results.json").string()}).status, 2);
}

TEST(ReportCommand, WatchesUntilTheRunEnds) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return folder / "run" / name; };
  make_folder(folder / "run");
  std::string log = to_json_line({.round = 1, .test_accuracy = 0.5});
  write_file(file("rounds.jsonl"), log);
  write_file(file("config.toml"), "[code]\nfamily = \"cwc\"\n[run]\nrounds = 2\n");
  const auto save_model = [&](const char* round) {
    save_safetensors(file("model.safetensors"), {}, {{"round", round}});
  };
  save_model("1");  // of a run that was stopped and goes on
  const auto page_has = [&](const std::string& text) {
    return std::filesystem::exists(file("report.html")) &&
           read_file(file("report.html")).find(text) != std::string::npos;
  };
  const std::string reload = "http-equiv=\"refresh\"";
  bool grown = false, reloads = false;
  const ProgramOptions options{.signal_when = [&] {
    if (!grown && page_has("50.0 %")) {
      reloads = page_has(reload);
      log += to_json_line({.round = 2, .test_accuracy = 0.75});
      write_file(file("rounds.jsonl"), log);
      grown = true;
    }
    if (grown && page_has("75.0 %")) save_model("2");
    return false;
  }};
  const Outcome outcome = run_program({"report", (folder / "run").string(), "--watch"}, options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(reloads);
  EXPECT_FALSE(page_has(reload)) << "nothing more will come";
  EXPECT_NE(outcome.out.find("75.0 %"), std::string::npos) << outcome.out;
}

TEST(ReportCommand, AWatchThatIsStoppedLeavesAPageThatDoesNotReload) {
  const TemporaryFolder folder;
  make_folder(folder / "run");
  write_file(folder / "run" / "rounds.jsonl", to_json_line({.round = 1, .test_accuracy = 0.5}));
  const std::filesystem::path page = folder / "run" / "report.html";
  // While it pauses: a signal that meets a thread's first blocking call can be lost by the thread sanitizer.
  size_t milliseconds = 0;
  const auto it_pauses = [&] { return std::filesystem::exists(page) && ++milliseconds > 300; };
  const Outcome outcome = run_program({"report", (folder / "run").string(), "--watch"},
                                      {.signal_when = it_pauses, .signal = SIGINT});
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(read_file(page).find("http-equiv=\"refresh\""), std::string::npos);
}

}  // namespace
}  // namespace subfleet
