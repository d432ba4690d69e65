// What the program says of itself: its version, its man page and its completion.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/config.h"
#include "subfleet/trainer.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

std::vector<std::string> lines_of_text(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Version, SaysWhatTheBuildHas) {
  const std::string said = run_program({"--version"}).out;
  const std::vector<std::string> lines = lines_of_text(said);
  const std::array<std::string_view, 6> starts{
      "subfleet 0.1.0", "trainers: reference, ", "MPI: ", "HDF5: ", "Flower node: ", "compiler: "};
  ASSERT_EQ(lines.size(), starts.size()) << said;
  EXPECT_EQ(lines[0], starts[0]);
  for (size_t i = 1; i < starts.size(); ++i) {
    EXPECT_TRUE(lines[i].starts_with(starts[i])) << lines[i];
    EXPECT_GT(lines[i].size(), starts[i].size());
  }
  const std::vector<std::string> trainers = trainer_names();
  const bool has_cpu = std::ranges::find(trainers, "cpu") != trainers.end();
  EXPECT_NE(lines[1].find(has_cpu ? ", cpu (oneDNN " : ", no cpu, "), std::string::npos) << lines[1];
}

// The commands that `subfleet --help` lists.
std::vector<std::string> listed_commands() {
  const std::string help = run_program({"--help"}).out;
  std::vector<std::string> commands;
  bool listed = false;
  for (const std::string& line : lines_of_text(help)) {
    if (listed && line.starts_with("  ") && line[2] != ' ')
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (line == "Subcommands:") listed = true;
  }
  return commands;
}

TEST(Generate, TheManPageHasEveryCommandOptionAndSetting) {
  const Outcome outcome = run_program({"generate", "man"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with(".TH SUBFLEET 1")) << outcome.out.substr(0, 80);
  const std::vector<std::string> commands = listed_commands();
  ASSERT_GE(commands.size(), 13u);
  for (const std::string& command : commands)
    EXPECT_NE(outcome.out.find(".SS subfleet " + command), std::string::npos) << command;
  EXPECT_NE(outcome.out.find(".SS subfleet data info"), std::string::npos);
  EXPECT_NE(outcome.out.find("\\-\\-resume"), std::string::npos);
  for (const Setting& setting : settings({}))
    EXPECT_NE(outcome.out.find("\\fB" + setting.name + "\\fR"), std::string::npos) << setting.name;
  EXPECT_EQ(outcome.out.find("subfleet generate"), std::string::npos) << "a hidden command is not listed";
}

TEST(Generate, AHiddenCommandIsNotInTheHelp) {
  EXPECT_EQ(run_program({"--help"}).out.find("  generate "), std::string::npos);
  expect_one_line_error(run_program({"generate"}), 2, "subcommand");
}

// What bash offers after "subfleet WORDS", of which the last one is being typed.
std::vector<std::string> completions(const std::string& script, const std::string& words, int last) {
  const TemporaryFolder folder;
  const std::string test = (folder / "test.bash").string(), out = (folder / "out").string();
  write_file(test, script + "\nCOMP_WORDS=(subfleet " + words + ")\nCOMP_CWORD=" + std::to_string(last) +
                       "\ncompopt() { :; }\n_subfleet\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  EXPECT_EQ(std::system(("bash -u " + test + " > " + out).c_str()), 0) << words;
  return lines_of_text(read_file(out));
}

TEST(Generate, TheCompletionKnowsCommandsOptionsSettingsAndDevices) {
  if (std::system("command -v bash > /dev/null") != 0) GTEST_SKIP() << "there is no bash";
  const Outcome outcome = run_program({"generate", "completion"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  using Words = std::vector<std::string>;
  EXPECT_EQ(completions(outcome.out, "tr", 1), Words{"train"});
  EXPECT_EQ(completions(outcome.out, "data i", 2), Words{"info"});
  EXPECT_EQ(completions(outcome.out, "data info --h", 3), Words{"--help"});
  EXPECT_EQ(completions(outcome.out, "train --res", 2), Words{"--resume"});
  EXPECT_EQ(completions(outcome.out, "train --set round.clients", 3), Words{"round.clients="});
  EXPECT_EQ(completions(outcome.out, "train --out x --device ref", 5), Words{"reference"});
  EXPECT_EQ(completions(outcome.out, "train conf", 2), Words{""}) << "files are bash's own";
  EXPECT_EQ(completions(outcome.out, "''", 1).size(), listed_commands().size());
}

}  // namespace
}  // namespace subfleet
