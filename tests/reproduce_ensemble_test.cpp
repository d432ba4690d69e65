// The reproduce command with ensembles: what their members are together, stopped and started again.

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// A run, and an ensemble of two with half of its clients each.
std::filesystem::path tiny_rivals(const TemporaryFolder& folder) {
  make_folder(folder / "e" / "paper");
  write_file(folder / "e" / "paper" / "rivals.toml", R"(
title = "Rivals"
seeds = [1]
last_rounds = 2
[settings]
model.file = ")" + tiny_model() + R"("
data.writers = 30
code.family = "none"
server = { optimizer = "fedadam", lr = 0.01 }
run = { rounds = 6, eval_every = 1, eval_samples = 200 }
[[run]]
name = "one"
settings.round.clients = 6
[[run]]
name = "two"
members = 2
settings.round.clients = 3
[[value]]
run = "two"
measure = "accuracy"
[[value]]
run = "two"
of = "one"
measure = "last test difference"
[[value]]
run = "two"
of = "one"
measure = "bytes per round saved"
)");
  return folder / "e";
}

std::vector<std::string> entries_with(const std::filesystem::path& folder, const std::string& part) {
  std::vector<std::string> found;
  std::error_code none_yet;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
    if (entry.path().filename().string().find(part) != std::string::npos)
      found.push_back(entry.path().string());
  }
  return found;
}

TEST(ReproduceEnsemble, IsWhatItsMembersAreTogether) {
  const TemporaryFolder folder;
  const std::vector<std::string> command{
      "reproduce", "rivals", "--experiments", tiny_rivals(folder).string(), "--out", (folder / "o").string()};
  const Outcome outcome = run_program(command);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("two (member)"), std::string::npos) << outcome.out;
  const std::string text = read_file(folder / "o" / "results.json");
  const nlohmann::json results = nlohmann::json::parse(text);
  const auto mean = [&](size_t value) {
    return results.at(0).at("values").at(value).at("readings")[0].at("mean").get<double>();
  };
  const std::vector<std::string> one = entries_with(folder / "o" / "runs", "one-1-"),
                                 members = entries_with(folder / "o" / "runs", "two-");
  ASSERT_EQ(members.size(), 2u);
  const nlohmann::json tested =
      nlohmann::json::parse(run_program({"test", "--json", one.at(0), members[0], members[1]}).out);
  EXPECT_NE(tested.at("runs")[1].at("loss"), tested.at("runs")[2].at("loss")) << "each has a seed of its own";
  const nlohmann::json together =
      nlohmann::json::parse(run_program({"test", "--json", members[0], members[1]}).out);
  const double accuracy = together.at("ensembles")[0].at("accuracy").get<double>();
  EXPECT_NEAR(mean(0), 100 * accuracy, 1e-9);
  EXPECT_NEAR(mean(1), 100 * (accuracy - tested.at("runs")[0].at("accuracy").get<double>()), 1e-9);
  EXPECT_NEAR(mean(2), 0, 0.1) << "twice three clients exchange what six do";

  // What is known of an ensemble does not need its members.
  for (const std::string& member : members) std::filesystem::remove_all(member);
  const Outcome again = run_program(command);
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.out.find(", seed"), std::string::npos) << again.out;
  EXPECT_EQ(read_file(folder / "o" / "results.json"), text);
}

TEST(ReproduceEnsemble, GoesOnWithTheMemberThatWasStopped) {
  const TemporaryFolder folder;
  const std::string experiments = tiny_rivals(folder).string();
  const auto command = [&](const char* out) {
    return std::vector<std::string>{"reproduce",     "rivals",
                                    "--experiments", experiments,
                                    "--out",         (folder / out).string(),
                                    "--set",         "run.checkpoint_every=1",
                                    "--set",         "run.rounds=10"};
  };
  ASSERT_EQ(run_program(command("whole")).status, 0);
  const auto the_second_trains = [&] {
    const std::vector<std::string> second = entries_with(folder / "cut" / "runs", "two-2000001-");
    std::error_code none_yet;
    return !second.empty() && std::filesystem::file_size(second[0] + "/rounds.jsonl", none_yet) > 0 &&
           !none_yet;
  };
  run_program(command("cut"), {.signal_when = the_second_trains, .signal = SIGKILL});
  EXPECT_TRUE(entries_with(folder / "cut" / "ensembles", ".json").empty()) << "it was stopped too late";
  const Outcome rest = run_program(command("cut"));
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_NE(rest.out.find("1/2 rivals: two (member), seed 2000001"), std::string::npos) << rest.out;
  for (const char* name : {"results.json", "results.md"})
    EXPECT_EQ(read_file(folder / "whole" / name), read_file(folder / "cut" / name));
}

TEST(ReproduceEnsemble, WithAMemberThatDivergedHasNoAccuracy) {
  const TemporaryFolder folder;
  const std::vector<std::string> command{"reproduce",     "rivals",
                                         "--experiments", tiny_rivals(folder).string(),
                                         "--out",         (folder / "o").string(),
                                         "--set",         "round.client_lr=1000",
                                         "--set",         "server.lr=1000"};
  const Outcome outcome = run_program(command);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("two, seed 1: a member diverged"), std::string::npos) << outcome.out;
  const nlohmann::json results = nlohmann::json::parse(read_file(folder / "o" / "results.json"));
  EXPECT_TRUE(results.at(0).at("values").at(0).at("readings")[0].at("mean").is_null());
  const std::vector<std::string> saved = entries_with(folder / "o" / "ensembles", ".json");
  ASSERT_EQ(saved.size(), 1u);
  write_file(saved[0], "{\"accuracy\": ");
  expect_one_line_error(run_program(command), 2, "is damaged; remove it");
}

}  // namespace
}  // namespace subfleet
