#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "program.h"
#include "store/round_log.h"
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

}  // namespace
}  // namespace subfleet
