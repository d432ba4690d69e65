// The program on a GPU: the same bits every time, whoever shares it and however often it is killed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/trainer.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

const std::vector<std::string> kGpuSettings{"data.writers=40",        "round.clients=7",
                                            "run.eval_every=2",       "run.eval_samples=450",
                                            "run.checkpoint_every=2", "code.tiers=[1.0, 0.5]"};

std::vector<std::string> gpu_command(const std::string& name, const std::filesystem::path& folder,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> arguments{name, "--device", "cuda", "--out", folder.string()};
  for (const auto* list : {&kGpuSettings, &more}) {
    for (const std::string& setting : *list) arguments = with(arguments, {"--set", setting});
  }
  return arguments;
}

size_t rounds_in(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "rounds.jsonl")) return 0;
  const std::string log = read_file(folder / "rounds.jsonl");
  return static_cast<size_t>(std::count(log.begin(), log.end(), '\n'));
}

std::string model_in(const std::filesystem::path& folder) { return read_file(folder / "model.safetensors"); }

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> names = trainer_names();
    if (std::ranges::find(names, "cuda") == names.end()) GTEST_SKIP() << "no GPU that can be used here";
  }
  TemporaryFolder folder_;
};

TEST_F(Gpu, TwoRanksThatShareItGiveTheBitsOfOneProcess) {
  if (!can_run_ranks()) GTEST_SKIP() << "no mpiexec here";
  for (const char* model : {"emnist-mlp", "emnist-cnn"}) {
    const std::vector<std::string> more{fmt::format("model.name={}", model), "run.rounds=4",
                                        "server.optimizer=fedexp"};
    const auto alone = folder_ / fmt::format("{}-alone", model),
               shared = folder_ / fmt::format("{}-2", model);
    const Outcome one = run_program(gpu_command("train", alone, more));
    ASSERT_EQ(one.status, 0) << one.err;
    const Outcome two = run_program(gpu_command("train", shared, more), {.ranks = 2});
    ASSERT_EQ(two.status, 0) << two.err;
    EXPECT_EQ(model_in(shared), model_in(alone)) << model;
    const auto provenance = nlohmann::json::parse(read_file(shared / "provenance.json"));
    EXPECT_EQ(provenance["sessions"][0]["ranks"], 2);
    EXPECT_EQ(provenance["sessions"][0]["device"], "cuda");
  }
}

TEST_F(Gpu, KilledAndResumedGivesTheSameBytes) {
  const std::vector<std::string> more{"model.name=emnist-mlp", "run.rounds=120"};
  const Outcome whole = run_program(gpu_command("train", folder_ / "whole", more));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const auto killed = folder_ / "killed";
  std::vector<std::string> command = gpu_command("train", killed, more);
  for (const size_t rounds : {3u, 20u, 41u}) {
    const Outcome outcome =
        run_program(command, {.signal_when = [&] { return rounds_in(killed) >= rounds; }});
    ASSERT_EQ(outcome.status, -1) << "it came to its end before it was killed: " << outcome.err;
    command = {"train", "--resume", killed.string()};
  }
  const Outcome resumed = run_program(command);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(model_in(killed), model_in(folder_ / "whole"));
}

TEST_F(Gpu, ASearchFindsTheSameTwiceAndItsWinnerHasTheBitsOfTheRunAlone) {
  const std::vector<std::string> more{"model.name=emnist-mlp", "run.rounds=12", "tune.target=5x",
                                      "tune.window=3"};
  for (const char* name : {"first", "second"}) {
    const Outcome outcome = run_program(with(gpu_command("tune", folder_ / name, more), {"--train"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  for (const char* name : {"tune.json", "model.safetensors"})
    EXPECT_EQ(read_file(folder_ / "first" / name), read_file(folder_ / "second" / name)) << name;

  const auto found = nlohmann::json::parse(read_file(folder_ / "first" / "tune.json"));
  const auto& candidates = found.at("candidates");
  const auto won =
      std::ranges::find(candidates, found.at("best"), [](const auto& c) { return c.at("value"); });
  const auto draw = std::to_string((won - candidates.begin()) * 1'000'000);
  const Outcome alone = run_program(
      gpu_command("train", folder_ / "alone",
                  with(more, {"run.first_draw=" + draw, "server.lr=" + found.at("best").dump()})));
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(model_in(folder_ / "alone"), model_in(folder_ / "first"));
}

TEST_F(Gpu, AModelFromAFileLearns) {
  write_file(folder_ / "small.toml", R"(input = [1, 28, 28]
layer = [
  { type = "conv2d", units = 16, kernel = 3 },
  { type = "relu" },
  { type = "maxpool", kernel = 2 },
  { type = "conv2d", units = 32, kernel = 3 },
  { type = "relu" },
  { type = "maxpool", kernel = 2 },
  { type = "flatten" },
  { type = "dense", units = 128 },
  { type = "relu" },
  { type = "dense", units = 62 },
]
)");
  const Outcome outcome = run_program(gpu_command(
      "train", folder_ / "run", {"model.file=" + (folder_ / "small.toml").string(), "run.rounds=20"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(read_file(folder_ / "run" / "rounds.jsonl"));
  std::vector<double> losses;
  for (std::string line; std::getline(lines, line);)
    losses.push_back(nlohmann::json::parse(line).at("train_loss"));
  ASSERT_EQ(losses.size(), 20u);
  EXPECT_LT(losses.back(), losses.front());
}

TEST_F(Gpu, ItsRunGoesOnWithoutIt) {
  const std::string other = trainer_names()[1] == "cpu" ? "cpu" : "reference";  // a bundle may have no oneDNN
  const auto run = folder_ / "run";
  const Outcome begun = run_program(gpu_command("train", run, {"model.name=emnist-mlp", "run.rounds=4"}));
  ASSERT_EQ(begun.status, 0) << begun.err;
  const std::vector<std::string> resume{"train", "--resume", run.string(), "--set", "run.rounds=6"};
  const Outcome moved = run_program(with(resume, {"--device", other}));
  ASSERT_EQ(moved.status, 0) << moved.err;
  EXPECT_NE(moved.out.find("it may round differently"), std::string::npos) << moved.out;
  EXPECT_EQ(rounds_in(run), 6u);
  const auto sessions = nlohmann::json::parse(read_file(run / "provenance.json"))["sessions"];
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0]["device"], "cuda");
  EXPECT_EQ(sessions[1]["device"], other);
}

}  // namespace
}  // namespace subfleet
