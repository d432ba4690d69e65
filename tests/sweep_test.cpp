// The sweep command as a user meets it: run, killed, started again, and given bad input.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "markup_check.h"
#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

constexpr auto kTinySweep = R"(
title = "Tiny"
seeds = [1, 2]
baseline = "none"
target = 0.5
last_rounds = 4
[settings]
model.file = "tiny-mlp.toml"
data.writers = 40
round.clients = 5
server = { optimizer = "fedadam", lr = 0.01 }
run = { rounds = 8, eval_every = 1, eval_samples = 200, checkpoint_every = 2 }
[[run]]
name = "none"
settings.code.family = "none"
[[run]]
name = "balanced, rot4"
settings = { code = { family = "balanced", rescale = true }, wire = { down = "rot4", up = "rot4" } }
)";

std::string tiny_file(const TemporaryFolder& folder, const std::string& more = "") {
  const std::filesystem::path file = folder / "tiny.toml";
  write_file(file, kTinySweep + more);
  write_file(folder / "tiny-mlp.toml", read_file(tiny_model()));
  return file.string();
}

const std::vector<std::string> kFolders{"none-1", "none-2", "balanced-rot4-1", "balanced-rot4-2"};

void expect_same_results(const std::filesystem::path& a, const std::filesystem::path& b) {
  for (const char* name : {"results.json", "results.md", "accuracy-over-bytes.svg"})
    EXPECT_EQ(read_file(a / name), read_file(b / name)) << name;
  for (const std::string& run : kFolders)
    EXPECT_EQ(read_file(a / run / "model.safetensors"), read_file(b / run / "model.safetensors")) << run;
}

TEST(Sweep, ComparesRunsOverSeedsAndLeavesRunFolders) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder), out = (folder / "s").string();
  const Outcome outcome = run_program({"sweep", file, "--out", out});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\r'), std::string::npos) << "no bar when the output is no terminal";
  EXPECT_NE(outcome.out.find("bytes to 0.5x baseline"), std::string::npos) << outcome.out;
  const Json results = Json::parse(read_file(folder / "s" / "results.json"));
  ASSERT_EQ(results.at("runs").size(), 2u);
  for (const Json& run : results.at("runs")) EXPECT_EQ(run.at("seeds").size(), 2u);
  EXPECT_GT(results.at("runs")[1].at("times_fewer").get<double>(), 7);
  EXPECT_EQ(markup_fault(read_file(folder / "s" / "accuracy-over-bytes.svg")), "");

  // A run of a sweep is what `train` makes of the same settings, and `report` reads it.
  ASSERT_EQ(run_program({"train", (folder / "s" / "balanced-rot4-2" / "config.toml").string(), "--out",
                         (folder / "alone").string()})
                .status,
            0);
  EXPECT_EQ(read_file(folder / "alone" / "model.safetensors"),
            read_file(folder / "s" / "balanced-rot4-2" / "model.safetensors"));
  EXPECT_EQ(run_program({"report", "--json", out + "/none-1", out + "/balanced-rot4-1"}).status, 0);
}

TEST(Sweep, StartedAgainItLeavesOutWhatIsDone) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder), out = (folder / "s").string();
  const std::vector<std::string> command{"sweep", file, "--out", out};
  ASSERT_EQ(run_program(with(command, {"--seeds", "1", "--only", "none"})).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "s" / "balanced-rot4-1"));
  const Outcome list = run_program(with(command, {"--list"}));
  ASSERT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("none-SEED               2     1       8"), std::string::npos) << list.out;
  const Outcome rest = run_program(command);
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_NE(rest.out.find("3 runs to train"), std::string::npos) << rest.out;
  const std::string results = read_file(folder / "s" / "results.json");
  std::filesystem::remove(folder / "s" / "results.json");
  const Outcome again = run_program(command);
  EXPECT_EQ(again.out.find("to train"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("difference"), std::string::npos) << again.out;
  EXPECT_EQ(read_file(folder / "s" / "results.json"), results);
  EXPECT_EQ(run_program(with(command, {"--quiet"})).out, "");
  ASSERT_EQ(run_program(with(command, {"--set", "run.rounds=9"})).status, 0) << "they go on";
  EXPECT_EQ(Json::parse(read_file(folder / "s" / "results.json")).at("runs")[0].at("seeds")[1].at("rounds"),
            9);
}

TEST(Sweep, KilledOrStoppedAndStartedAgainItFindsTheSame) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder);
  ASSERT_EQ(run_program({"sweep", file, "--out", (folder / "whole").string()}).status, 0);
  const std::vector<std::string> command{"sweep", file, "--out", (folder / "s").string(), "--threads", "1"};
  const auto has_rounds = [&](const char* run) {
    return [log = folder / "s" / run / "rounds.jsonl"] {
      std::error_code none_yet;
      const auto size = std::filesystem::file_size(log, none_yet);
      return !none_yet && size > 300;
    };
  };
  const Outcome killed = run_program(command, {.signal_when = has_rounds("balanced-rot4-1")});
  ASSERT_EQ(killed.status, -1) << "killed too late to show anything";
  const Outcome stopped = run_program(command, {.signal_when = has_rounds("none-2"), .signal = SIGINT});
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_NE(stopped.out.find("the same command goes on"), std::string::npos) << stopped.out;
  ASSERT_EQ(run_program(command).status, 0);
  expect_same_results(folder / "whole", folder / "s");
}

TEST(Sweep, AnExtendedSweepThatIsKilledIsGoneOnWith) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder);
  const auto command = [&](const char* name, const char* rounds) {
    return std::vector<std::string>{"sweep",  file,   "--out", (folder / name).string(),
                                    "--only", "none", "--set", std::string("run.rounds=") + rounds};
  };
  const auto model = folder / "s" / "none-1" / "model.safetensors";
  const auto log = folder / "s" / "none-1" / "rounds.jsonl";
  ASSERT_EQ(run_program(command("s", "8")).status, 0);
  const std::string old = read_file(model);
  const auto before = std::filesystem::file_size(log);
  const auto goes_on = [&] {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(log, none_yet);
    return !none_yet && size > before;
  };
  ASSERT_EQ(run_program(command("s", "60"), {.signal_when = goes_on}).status, -1);
  ASSERT_EQ(run_program(command("s", "60")).status, 0);
  write_file(model, old);  // as if it had been killed before its new model was written
  ASSERT_EQ(run_program(command("s", "60")).status, 0);
  ASSERT_EQ(run_program(command("whole", "60")).status, 0);
  for (const char* name : {"results.json", "none-1/model.safetensors", "none-2/model.safetensors"})
    EXPECT_EQ(read_file(folder / "whole" / name), read_file(folder / "s" / name)) << name;
}

TEST(Sweep, RunsThatAreTrainedTogetherAreThoseOfOneAfterTheOther) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder, "[[run]]\nname = \"wild\"\nsettings.round.client_lr = 1e5\n");
  ASSERT_EQ(run_program({"sweep", file, "--out", (folder / "whole").string()}).status, 0);
  const Outcome together = run_program({"sweep", file, "--out", (folder / "s").string(), "--together", "2"});
  ASSERT_EQ(together.status, 0) << together.err;
  EXPECT_NE(together.out.find("1-2/6 none, seeds 1, 2"), std::string::npos) << together.out;
  expect_same_results(folder / "whole", folder / "s");
  EXPECT_TRUE(std::filesystem::exists(folder / "s" / "wild-2" / "report.html"));
}

TEST(Sweep, AStopKeepsWhatIsDoneOfRunsThatAreTrainedTogether) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder), out = (folder / "s").string();
  const auto command = [&](const char* rounds) {
    return std::vector<std::string>{
        "sweep", file,         "--out", out,     "--only",
        "none",  "--together", "2",     "--set", std::string("run.checkpoint_every=") + rounds};
  };
  // One of them is ahead of the other.
  ASSERT_EQ(run_program({"sweep", file, "--out", out, "--only", "none", "--seeds", "1"}).status, 0);
  std::filesystem::remove(folder / "s" / "none-1" / "model.safetensors");
  const auto begun = [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(folder / "s" / "none-2" / "rounds.jsonl", none_yet) > 200 && !none_yet;
  };
  run_program(command("1000"), {.signal_when = begun, .signal = SIGINT});
  EXPECT_TRUE(std::filesystem::exists(folder / "s" / "none-1" / "model.safetensors"))
      << "its last round is done, whatever the other does";
}

TEST(Sweep, ARunThatDivergesDoesNotEndTheOthers) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder, "[[run]]\nname = \"wild\"\nsettings.round.client_lr = 1e5\n");
  const std::vector<std::string> command{"sweep", file, "--out", (folder / "s").string(), "--seeds", "1"};
  const Outcome outcome = run_program(command);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("run 'wild', seed 1: round 1: every client's training diverged"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("1, 1 diverged"), std::string::npos) << outcome.out;
  const Outcome again = run_program(command);
  EXPECT_EQ(again.out.find("to train"), std::string::npos) << again.out;
}

TEST(Sweep, FailsWhereEveryRunDiverges) {
  const TemporaryFolder folder;
  const std::string file = tiny_file(folder, "[[run]]\nname = \"wild\"\nsettings.round.client_lr = 1e5\n");
  const Outcome outcome =
      run_program({"sweep", file, "--only", "wild", "--quiet", "--out", (folder / "s").string()});
  expect_one_line_error(outcome, 1, "every run diverged; lower server.lr or round.client_lr");
}

TEST(Sweep, BadRequestsAreOneLineWithStatusTwo) {
  const TemporaryFolder folder;
  const std::string out = (folder / "s").string();
  const auto wrong = [&](const std::string& more, const std::string& containing) {
    expect_one_line_error(run_program({"sweep", tiny_file(folder, more), "--out", out}), 2, containing);
  };
  wrong("[[run]]\nname = \"x\"\nsettings.code.famly = 1\n", "run 'x': setting: unknown 'code.famly'");
  wrong("[[run]]\nname = \"x\"\nsettings.round.clients = 41\n", "run 'x': round.clients: 41 per round");
  wrong(
      "[[run]]\nname = \"x\"\nsettings = { model = { name = 'allcnn-c', file = '' }, code.family = 'none' "
      "}\n",
      "run 'x': model: ");
  for (const std::string& run : kFolders)
    EXPECT_FALSE(std::filesystem::exists(folder / "s" / run)) << "nothing starts before all is checked";
  const std::vector<std::string> command{"sweep", tiny_file(folder), "--out", out};
  expect_one_line_error(run_program(with(command, {"--only", "gold"})), 2, "part of no run's name");
  expect_one_line_error(run_program(with(command, {"--seeds", "3"})), 2, "more than the 2 of");
  expect_one_line_error(run_program(with(command, {"--set", "run.seed=4"})), 2, "the list 'seeds'");
  expect_one_line_error(run_program(with(command, {"--device", "abacus"})), 2, "abacus");
  expect_one_line_error(run_program({"sweep", (folder / "none.toml").string()}), 2, "none.toml");
  ASSERT_EQ(run_program(with(command, {"--only", "none", "--seeds", "1"})).status, 0);
  expect_one_line_error(run_program(with(command, {"--set", "server.lr=0.1"})), 2,
                        "none-1: was begun with another server.lr");
  expect_one_line_error(run_program(with(command, {"--set", "run.eval_every=3"})), 2,
                        "another run.eval_every");
  expect_one_line_error(run_program(with(command, {"--set", "run.rounds=4"})), 2, "another run.rounds");
  expect_one_line_error(run_program({"sweep", tiny_file(folder), "--out", out + "/none-1"}), 2,
                        "holds a run");
}

}  // namespace
}  // namespace subfleet
