// The program under mpirun: any number of ranks gives the bits of one process, and a rank that fails ends the
// job with a line and without a wait.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"
#include "tiny_network.h"

namespace subfleet {
namespace {

const std::vector<std::string> kRankSettings{
    "model.file=" + tiny_model(), "data.writers=40",      "round.clients=7",
    "run.eval_every=2",           "run.eval_samples=450", "run.checkpoint_every=1",
    "code.tiers=[1.0, 0.5]",      "code.rescale=true",    "server.optimizer=fedexp"};

std::vector<std::string> rank_command(const std::string& name, const std::filesystem::path& folder,
                                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{name, "--out", folder.string()};
  for (const auto* list : {&kRankSettings, &more}) {
    for (const std::string& setting : *list) arguments = with(arguments, {"--set", setting});
  }
  return arguments;
}

// The log without the times, which are never the same.
std::vector<nlohmann::json> log_without_times(const std::filesystem::path& folder) {
  std::istringstream text(read_file(folder / "rounds.jsonl"));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(text, line);) {
    records.push_back(nlohmann::json::parse(line));
    records.back().erase("seconds");
  }
  return records;
}

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_run_ranks()) GTEST_SKIP() << "built without MPI, or with a sanitizer that MPI does not bear";
  }
  TemporaryFolder folder_;
};

TEST_F(Mpi, AnyNumberOfRanksAndThreadsGivesTheSameBits) {
  ASSERT_EQ(run_program(rank_command("train", folder_ / "alone", {"run.rounds=4"})).status, 0);
  const std::string model = read_file(folder_ / "alone" / "model.safetensors");
  const auto log = log_without_times(folder_ / "alone");
  for (const uint32_t ranks : {1u, 2u, 3u, 4u}) {
    for (const char* threads : {"1", "2"}) {
      const auto folder = folder_ / fmt::format("{}-{}", ranks, threads);
      const Outcome outcome = run_program(
          with(rank_command("train", folder, {"run.rounds=4"}), {"--threads", threads}), {.ranks = ranks});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(read_file(folder / "model.safetensors"), model) << ranks << " ranks of " << threads;
      EXPECT_EQ(log_without_times(folder), log) << ranks << " ranks of " << threads;
      if (ranks == 1) continue;
      EXPECT_NE(outcome.out.find(fmt::format("{} ranks", ranks)), std::string::npos) << outcome.out;
      EXPECT_NE(outcome.out.find("of sums"), std::string::npos) << outcome.out;
    }
  }
}

TEST_F(Mpi, LossyCodecsAndStepsBeyondPlainSgdGiveTheSameBitsOnAnyNumberOfRanks) {
  const std::vector<std::string> more{"run.rounds=3",       "wire.down=rot4",          "wire.up=rot1",
                                      "round.momentum=0.9", "round.weight_decay=0.01", "round.proximal=0.1"};
  ASSERT_EQ(run_program(rank_command("train", folder_ / "alone", more)).status, 0);
  for (const uint32_t ranks : {2u, 3u}) {
    const auto folder = folder_ / fmt::format("{}", ranks);
    const Outcome outcome = run_program(rank_command("train", folder, more), {.ranks = ranks});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read_file(folder / "model.safetensors"), read_file(folder_ / "alone" / "model.safetensors"));
    EXPECT_EQ(log_without_times(folder), log_without_times(folder_ / "alone"));
  }
}

TEST_F(Mpi, ANetworkOfTodayHasTheSameBitsOnAnyNumberOfRanks) {
  write_file(folder_ / "network.toml", kTinyNetwork);
  const std::vector<std::string> more{"model.file=" + (folder_ / "network.toml").string(),
                                      "code.family=balanced",
                                      "run.rounds=2",
                                      "round.flip=true",
                                      "round.crop=2",
                                      "round.momentum=0.9"};
  ASSERT_EQ(run_program(rank_command("train", folder_ / "alone", more)).status, 0);
  for (const uint32_t ranks : {2u, 3u}) {
    const auto folder = folder_ / fmt::format("{}", ranks);
    const Outcome outcome = run_program(rank_command("train", folder, more), {.ranks = ranks});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read_file(folder / "model.safetensors"), read_file(folder_ / "alone" / "model.safetensors"));
    EXPECT_EQ(log_without_times(folder), log_without_times(folder_ / "alone"));
  }
}

TEST_F(Mpi, ASearchFindsTheSame) {
  const std::vector<std::string> more{"run.rounds=20", "tune.target=3x", "tune.steps=1", "tune.window=2",
                                      "server.optimizer=fedadam"};
  ASSERT_EQ(run_program(with(rank_command("tune", folder_ / "alone", more), {"--train"})).status, 0);
  const Outcome outcome =
      run_program(with(rank_command("tune", folder_ / "ranks", more), {"--train"}), {.ranks = 3});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name : {"tune.json", "model.safetensors", "tune.svg"})
    EXPECT_EQ(read_file(folder_ / "ranks" / name), read_file(folder_ / "alone" / name)) << name;
}

TEST_F(Mpi, ARunGoesOnWithAnyNumberOfRanks) {
  ASSERT_EQ(run_program(rank_command("train", folder_ / "alone", {"run.rounds=4"})).status, 0);
  ASSERT_EQ(run_program(rank_command("train", folder_ / "run", {"run.rounds=2"}), {.ranks = 2}).status, 0);
  const std::vector<std::string> resume{"train", "--resume", (folder_ / "run").string(), "--set"};
  ASSERT_EQ(run_program(with(resume, {"run.rounds=3"}), {.ranks = 3}).status, 0);
  ASSERT_EQ(run_program(with(resume, {"run.rounds=4"})).status, 0);
  EXPECT_EQ(read_file(folder_ / "run" / "model.safetensors"),
            read_file(folder_ / "alone" / "model.safetensors"));
  const auto provenance = nlohmann::json::parse(read_file(folder_ / "run" / "provenance.json"));
  ASSERT_EQ(provenance["sessions"].size(), 3u);
  EXPECT_EQ(provenance["sessions"][0]["ranks"], 2);
  EXPECT_EQ(provenance["sessions"][1]["ranks"], 3);
  EXPECT_EQ(provenance["sessions"][1]["from_round"], 2);
}

TEST_F(Mpi, ARankWithoutTheDataEndsTheJobWithOneLine) {
  std::filesystem::create_directory(folder_ / "texts");
  for (int client = 0; client < 8; ++client)
    write_file(folder_ / "texts" / fmt::format("{}.txt", client), std::string(300, 'a'));
  const Outcome outcome =
      run_program({"train", "--out", (folder_ / "run").string(), "--set", "data.source=text", "--set",
                   "data.path=texts", "--set", "model.name=char-lstm", "--set", "round.clients=4"},
                  {.ranks = 3, .folders = {folder_ / ".", folder_ / "texts", folder_ / "."}});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("subfleet: rank 1: texts: "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("subfleet: ", outcome.err.find("subfleet: ") + 1), std::string::npos)
      << "said once: " << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(Mpi, ARankThatIsKilledEndsTheJobAndTheRunGoesOnWithoutIt) {
  ASSERT_EQ(run_program(rank_command("train", folder_ / "alone", {"run.rounds=12"})).status, 0);
  const auto two_rounds_are_done = [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(folder_ / "run" / "rounds.jsonl", none_yet) > 300 && !none_yet;
  };
  const Outcome outcome = run_program(rank_command("train", folder_ / "run", {"run.rounds=100000"}),
                                      {.signal_when = two_rounds_are_done, .ranks = 3, .signal_rank = 1});
  EXPECT_NE(outcome.status, 0);
  const Outcome resumed = run_program(
      {"train", "--resume", (folder_ / "run").string(), "--set", "run.rounds=100000"},
      {.signal_when = [&] { return log_without_times(folder_ / "run").size() >= 14; }, .signal = SIGINT});
  EXPECT_EQ(resumed.status, 130) << resumed.err;
  const auto whole = log_without_times(folder_ / "alone"), broken = log_without_times(folder_ / "run");
  ASSERT_GE(broken.size(), whole.size());
  for (size_t round = 0; round + 1 < whole.size(); ++round) EXPECT_EQ(broken[round], whole[round]);
}

TEST_F(Mpi, ABadRequestIsOneLineFromOneRank) {
  const Outcome outcome =
      run_program(rank_command("train", folder_ / "run", {"code.family=glod"}), {.ranks = 3});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("nearest: gold"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("subfleet: ", outcome.err.find("subfleet: ") + 1), std::string::npos)
      << "said once: " << outcome.err;
  EXPECT_EQ(run_program({"codes", "--list"}, {.ranks = 3}).out, run_program({"codes", "--list"}).out);
  const Outcome help = run_program({"--help"}, {.ranks = 3});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out.find("Usage", help.out.find("Usage") + 1), std::string::npos) << "said once";
}

}  // namespace
}  // namespace subfleet
