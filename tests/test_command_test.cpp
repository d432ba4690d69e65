// Testing trained models as a user meets it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

class TestCommand : public ::testing::Test {
 protected:
  std::string train(const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> command{"train", "--quiet", "--out", (folder_ / name).string()};
    for (const char* setting : {"model.name=emnist-mlp", "data.writers=6", "round.clients=3", "run.rounds=2",
                                "run.eval_every=1", "run.eval_samples=150"}) {
      command = with(command, {"--set", setting});
    }
    for (const std::string& setting : settings) command = with(command, {"--set", setting});
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return (folder_ / name).string();
  }

  static nlohmann::json tested(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_program(with({"test", "--json"}, arguments));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }

  TemporaryFolder folder_;
};

TEST_F(TestCommand, FindsWhatTheRunFoundAndTestsTheEnsemble) {
  const std::string a = train("a", {"run.seed=1"}), b = train("b", {"run.seed=2"}),
                    other = train("other", {"model.name=emnist-linear", "code.family=none"});
  const nlohmann::json result = tested({a, other, b});
  ASSERT_EQ(result["runs"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = result["runs"][i]["run"];
    const std::string log = read_file(folder_ / name / "rounds.jsonl");
    const auto last = nlohmann::json::parse(log.substr(log.rfind('\n', log.size() - 2) + 1));
    EXPECT_EQ(result["runs"][i]["accuracy"], last["test_accuracy"]) << name;
    EXPECT_EQ(result["runs"][i]["loss"], last["test_loss"]) << name;
  }
  ASSERT_EQ(result["ensembles"].size(), 1u) << "of those with the same model";
  const nlohmann::json ensemble = result["ensembles"][0];
  EXPECT_EQ(ensemble["runs"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(ensemble["examples"], result["runs"][0]["examples"]);
  EXPECT_EQ(ensemble["parameters"], 2 * result["runs"][0]["parameters"].get<int>());
  EXPECT_LT(ensemble["loss"],
            (result["runs"][0]["loss"].get<double>() + result["runs"][2]["loss"].get<double>()) / 2)
      << "the loss of mean logits is at most the mean of the losses";

  write_file(folder_ / "results.json", "{}");
  const Outcome table = run_program({"test", a, (folder_ / "results.json").string(), b});
  EXPECT_EQ(table.status, 0) << "plain files are left out: " << table.err;
  EXPECT_NE(table.out.find("ensemble of 2"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("of different rounds"), std::string::npos) << table.out;
  EXPECT_TRUE(tested({a, b, "--alone"})["ensembles"].empty());
  const nlohmann::json elsewhere = tested({a, "--set", "data.seed=5", "--set", "run.eval_samples=0"});
  EXPECT_NE(elsewhere["runs"][0]["loss"], result["runs"][0]["loss"]);
}

TEST_F(TestCommand, AnEnsembleOfDifferentRoundsSaysSo) {
  const std::vector<std::string> settings{"model.name=emnist-linear", "code.family=none"};
  const Outcome outcome =
      run_program({"test", train("a", settings), train("b", with(settings, {"run.rounds=3"}))});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("the ensemble of 2 joins models of different rounds: 2, 3\n"), std::string::npos)
      << outcome.out;
}

TEST_F(TestCommand, AnyNetworkCanBeJoined) {
  write_file(folder_ / "mine.toml",
             "input = [1, 28, 28]\n"
             "layer = [{ type = 'flatten' }, { type = 'dense', units = 62 }, { type = 'relu' }]\n");
  const std::vector<std::string> settings{
      "model.name=emnist-cnn", "model.file=" + (folder_ / "mine.toml").string(), "code.family=none"};
  const Outcome outcome =
      run_program({"test", train("a", settings), train("b", with(settings, {"run.seed=4"}))});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\nensemble of 2  mine "), std::string::npos) << outcome.out;
}

TEST_F(TestCommand, WhatIsWrongIsOneLine) {
  const std::string run = train("run", {"model.name=emnist-linear", "code.family=none"});
  expect_one_line_error(run_program({"test", run, run}), 2, "run");
  expect_one_line_error(run_program({"test", run, "--set", "round.clients=3"}), 2, "round.clients=3");
  expect_one_line_error(run_program({"test", run, "--set", "data.test_fraction=0"}), 2, "no test examples");
  expect_one_line_error(run_program({"test", run, "--device", "cpo"}), 2, "nearest: cpu");
  expect_one_line_error(run_program({"test", (folder_ / "nothing").string()}), 2, "nothing");
  std::filesystem::remove(folder_ / "run" / "model.safetensors");
  expect_one_line_error(run_program({"test", run}), 2, "subfleet train --resume");
}

}  // namespace
}  // namespace subfleet
