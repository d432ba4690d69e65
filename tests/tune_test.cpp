// The tune command as a user meets it: a search is run, killed, resumed, trained on and given bad input.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/random.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

std::vector<std::string> with_settings(std::vector<std::string> arguments,
                                       const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) arguments = with(std::move(arguments), {"--set", setting});
  return arguments;
}

const std::vector<std::string> kSmall{
    "model.file=" + tiny_model(), "round.client_lr=0.2",  "data.writers=40", "round.clients=5",
    "run.eval_every=4",           "run.eval_samples=200", "run.rounds=12",   "tune.target=5x",
    "run.checkpoint_every=2",     "tune.window=3"};

std::vector<std::string> small_search(const std::filesystem::path& folder) {
  return with_settings({"tune", "--out", folder.string()}, kSmall);
}

Json result_of(const std::filesystem::path& folder) { return Json::parse(read_file(folder / "tune.json")); }

TEST(Tune, LeavesEveryCandidateWithItsRoundsCurveAndFate) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(small_search(folder / "s"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\r'), std::string::npos) << "no bar when the output is no terminal";
  const Json result = result_of(folder / "s");
  EXPECT_EQ(result.at("outcome"), "found");
  uint64_t rounds = 0, bytes = 0;
  for (const Json& candidate : result.at("candidates")) {
    EXPECT_EQ(candidate.at("curve").size(), candidate.at("rounds"));
    EXPECT_NE(candidate.at("fate"), "running");
    rounds += candidate.at("rounds").get<uint64_t>();
    bytes += candidate.at("bytes").get<uint64_t>();
    if (candidate.at("value") == result.at("best")) {
      EXPECT_EQ(candidate.at("rounds"), result.at("rounds"));
    }
  }
  const Json& cost = result.at("cost");
  EXPECT_EQ(cost.at("rounds").get<uint64_t>() + result.at("rounds").get<uint64_t>(), rounds);
  EXPECT_EQ(cost.at("rounds").get<uint64_t>() + cost.at("spared_rounds").get<uint64_t>(),
            cost.at("formula_rounds"));
  EXPECT_EQ(cost.at("bytes").get<uint64_t>() * rounds, bytes * cost.at("rounds").get<uint64_t>())
      << "every round has the same bytes";
  EXPECT_NE(outcome.out.find("= " + cost.at("formula_rounds").dump() + " rounds"), std::string::npos)
      << outcome.out;
  EXPECT_NE(read_file(folder / "s" / "tune.svg").find("</svg>"), std::string::npos);
  size_t checkpoints = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "s"))
    checkpoints += entry.path().filename() == "checkpoint.safetensors" ? 1 : 0;
  EXPECT_EQ(checkpoints, 1u) << "only the best can go on";
}

TEST(Tune, TheWinnersRunGoesOnAsIfItHadBeenTrainedAlone) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(with(small_search(folder / "s"), {"--train", "--threads", "2"})).status, 0);
  const Json result = result_of(folder / "s");
  const auto& candidates = result.at("candidates");
  const auto won =
      std::ranges::find(candidates, result.at("best"), [](const Json& c) { return c.at("value"); });
  const auto draw = std::to_string((won - candidates.begin()) * 1'000'000);
  ASSERT_EQ(run_program(with_settings({"train", "--threads", "1", "--out", (folder / "alone").string()},
                                      with(kSmall, {"run.first_draw=" + draw,
                                                    "server.lr=" + result.at("best").dump()})))
                .status,
            0);
  EXPECT_EQ(read_file(folder / "s" / "model.safetensors"), read_file(folder / "alone" / "model.safetensors"));

  // The folder is a run folder like any other.
  const Outcome report =
      run_program({"report", "--json", (folder / "s").string(), (folder / "alone").string()});
  ASSERT_EQ(report.status, 0) << report.err;
  const Json runs = Json::parse(report.out).at("runs");
  EXPECT_EQ(runs[0].at("rounds"), 12);
  EXPECT_EQ(runs[0].at("search_bytes"), result.at("cost").at("bytes"));
  EXPECT_EQ(runs[0].at("bytes_total"),
            runs[1].at("bytes_total").get<uint64_t>() + result.at("cost").at("bytes").get<uint64_t>());
  EXPECT_EQ(runs[0].at("final_accuracy"), runs[1].at("final_accuracy"));
  for (const char* name : {"s", "alone"}) {
    ASSERT_EQ(run_program({"train", "--resume", (folder / name).string(), "--set", "run.rounds=14"}).status,
              0);
  }
  EXPECT_EQ(read_file(folder / "s" / "model.safetensors"), read_file(folder / "alone" / "model.safetensors"));
  ASSERT_EQ(
      run_program({"tune", "--resume", (folder / "s").string(), "--train", "--set", "run.rounds=14"}).status,
      0)
      << "asked for again, there is nothing to do";
}

// Of all logs in a folder, together.
uintmax_t size_of_logs(const std::filesystem::path& folder) {
  uintmax_t sum = 0;
  std::error_code changing;
  for (std::filesystem::recursive_directory_iterator at(folder, changing), end; !changing && at != end;
       at.increment(changing)) {
    if (at->path().filename() != "rounds.jsonl") continue;
    std::error_code gone;
    const auto size = std::filesystem::file_size(at->path(), gone);
    if (!gone) sum += size;
  }
  return sum;
}

TEST(Tune, KilledAtRandomMomentsAndResumedFindsTheSameRateAndTheSameBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(with(small_search(folder / "whole"), {"--train"})).status, 0);

  // Each time once a log has grown, and then some milliseconds later.
  Random random({.seed = 11});
  const auto size_now = [&] { return size_of_logs(folder / "killed"); };
  const auto killed_later = [&] {
    return ProgramOptions{.signal_when = [&, before = size_now(), wait = random.below(20)]() mutable {
      return size_now() > before && wait-- == 0;
    }};
  };
  const auto again = [&](const ProgramOptions& options) {
    return std::filesystem::exists(folder / "killed" / "tune.toml")
               ? run_program({"tune", "--train", "--resume", (folder / "killed").string()}, options)
               : run_program(with(small_search(folder / "killed"), {"--train"}), options);
  };
  int killed = 0;
  Outcome outcome = again(killed_later());
  for (; outcome.status != 0 && killed < 10; outcome = again(killed_later())) {
    ASSERT_EQ(outcome.status, -1) << outcome.err;
    ++killed;
  }
  if (outcome.status != 0) outcome = again({});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GE(killed, 2) << "killed too seldom to show anything";
  EXPECT_EQ(read_file(folder / "whole" / "tune.json"), read_file(folder / "killed" / "tune.json"));
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "killed" / "model.safetensors"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "killed")) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << "left behind: " << entry.path();
  }
}

TEST(Tune, WhatIsRefusedChangesNothing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(with(small_search(folder / "s"), {"--train"})).status, 0);
  const auto content = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "s")) {
      if (entry.is_regular_file()) files.emplace(entry.path().string(), read_file(entry.path()));
    }
    return files;
  };
  const auto before = content();
  const std::vector<std::string> resume{"tune", "--resume", (folder / "s").string(), "--train", "--set"};
  expect_one_line_error(run_program(with(resume, {"run.rounds=8"})), 2, "run.rounds");
  EXPECT_EQ(content(), before);
}

TEST(Tune, CtrlCStopsBetweenRoundsAndSaysHowToGoOn) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_search(folder / "whole")).status, 0);
  const auto second_candidate_has_begun = [&] {
    std::error_code none_yet;
    const auto log = folder / "s" / "candidates" / "0.001" / "rounds.jsonl";
    const auto size = std::filesystem::file_size(log, none_yet);
    return !none_yet && size > 0;
  };
  const Outcome stopped =
      run_program(small_search(folder / "s"), {.signal_when = second_candidate_has_begun, .signal = SIGINT});
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  ASSERT_EQ(result_of(folder / "s").at("outcome"), "unfinished")
      << "the signal came too late to test anything";
  const std::string resume = "subfleet tune --resume " + (folder / "s").string();
  EXPECT_NE(stopped.out.find(resume), std::string::npos) << stopped.out;
  ASSERT_EQ(run_program({"tune", "--resume", (folder / "s").string()}).status, 0);
  EXPECT_EQ(read_file(folder / "whole" / "tune.json"), read_file(folder / "s" / "tune.json"));
}

TEST(Tune, ASearchThatFindsNothingSaysWhyInOneLine) {
  const TemporaryFolder folder;
  expect_one_line_error(
      run_program(with_settings(small_search(folder / "slow"),
                                {"tune.target=0.99", "tune.max_rounds=3", "tune.outward=0"})),
      1, "no candidate for server.lr reached 99.0 % within 3 rounds; the best, ");
  EXPECT_EQ(result_of(folder / "slow").at("outcome"), "not reached");
  expect_one_line_error(
      run_program(with(with_settings(small_search(folder / "wild"), {"round.client_lr=1e5"}), {"--train"})),
      1, "every candidate for server.lr is lost; lower tune.start or round.client_lr");
  EXPECT_EQ(result_of(folder / "wild").at("outcome"), "all lost");
  EXPECT_FALSE(std::filesystem::exists(folder / "wild" / "config.toml")) << "nothing is trained";
}

TEST(Tune, SearchesOtherNumbersTooAndCanBeQuiet) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program(with(with_settings(small_search(folder / "s"),
                                     {"tune.parameter=round.client_lr", "tune.start=0.1", "tune.steps=1",
                                      "server.optimizer=fedexp", "tune.target=3x"}),
                       {"--quiet"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  const Json result = result_of(folder / "s");
  EXPECT_EQ(result.at("candidates")[1].at("value"), 0.01);
  EXPECT_NE(read_file(folder / "s" / "candidates" / "0.01" / "config.toml").find("client_lr = 0.01"),
            std::string::npos);
}

TEST(Tune, InitStartsEveryCandidateFromTheSameGivenWeights) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(
                with_settings({"train", "--out", (folder / "two").string()}, with(kSmall, {"run.rounds=2"})))
                .status,
            0);
  const std::string model = (folder / "two" / "model.safetensors").string();
  ASSERT_EQ(run_program(with(small_search(folder / "s"), {"--init", model})).status, 0);
  ASSERT_EQ(run_program(small_search(folder / "other")).status, 0);
  EXPECT_NE(result_of(folder / "s").at("candidates")[0].at("curve")[0],
            result_of(folder / "other").at("candidates")[0].at("curve")[0]);
}

TEST(Tune, BadRequestsAreOneLineWithStatusTwo) {
  const TemporaryFolder folder;
  const auto search = small_search(folder / "s");
  expect_one_line_error(run_program(with_settings(search, {"tune.parameter=server.rl"})), 2,
                        "nearest: server.lr");
  expect_one_line_error(run_program(with_settings(search, {"tune.parameter=code.family"})), 2,
                        "is no number");
  expect_one_line_error(run_program(with_settings(search, {"tune.target=much"})), 2, "\"20x\"");
  expect_one_line_error(run_program(with_settings(search, {"tune.target=63x"})), 2, "tune.target");
  expect_one_line_error(run_program(with_settings(search, {"tune.max_rounds=13"})), 2, "run.rounds");
  expect_one_line_error(run_program(with_settings(search, {"round.clients=41"})), 2, "only 40");
  expect_one_line_error(run_program({"tune", "--resume", (folder / "none").string()}), 2, "holds no search");
  EXPECT_FALSE(std::filesystem::exists(folder / "s")) << "a wrong request leaves nothing behind";
  ASSERT_EQ(run_program(search).status, 0);
  expect_one_line_error(run_program(search), 2, "holds a search already");
  expect_one_line_error(run_program({"tune", "--resume", (folder / "s").string(), "--set", "tune.steps=2"}),
                        2, "tune.steps: cannot change");
  expect_one_line_error(run_program({"train", "--resume", (folder / "s").string()}), 2,
                        "holds no run to resume");
}

}  // namespace
}  // namespace subfleet
