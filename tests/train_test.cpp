// The train command as a user meets it: the program is run, killed, resumed and given bad input.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/model.h"
#include "subfleet/random.h"
#include "subfleet/safetensors.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

std::vector<std::string> small_run(const std::filesystem::path& folder, uint32_t rounds = 6) {
  return {"train",
          "--out",
          folder.string(),
          "--set",
          "model.name=emnist-mlp",
          "--set",
          "data.writers=40",
          "--set",
          "round.clients=5",
          "--set",
          "run.eval_every=4",
          "--set",
          "run.eval_samples=200",
          "--set",
          "run.checkpoint_every=1",
          "--set",
          "run.rounds=" + std::to_string(rounds)};
}

std::vector<nlohmann::json> log_of(const std::filesystem::path& folder) {
  std::istringstream text(read_file(folder / "rounds.jsonl"));
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(text, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

TEST(Train, LeavesARunFolderWithEverythingInIt) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(small_run(folder / "run"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("test accuracy"), std::string::npos);
  EXPECT_EQ(outcome.out.find('\r'), std::string::npos) << "no bar when the output is no terminal";
  const auto log = log_of(folder / "run");
  ASSERT_EQ(log.size(), 6u);
  for (size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i].at("round"), i + 1);
    EXPECT_GT(log[i].at("bytes_down"), 0);
    EXPECT_GT(log[i].at("bytes_up"), 0);
    EXPECT_EQ(log[i].contains("test_accuracy"), i + 1 == 4 || i + 1 == 6);
  }
  EXPECT_LT(log.back().at("train_loss"), log.front().at("train_loss")) << "it learns";
  for (const char* name : {"config.toml", "checkpoint.safetensors", "model.safetensors", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "run" / name)) << name;
  }
}

// 4 bits per weight down and 1 up.
std::vector<std::string> with_few_bits(const std::vector<std::string>& run) {
  return with(run, {"--set", "wire.down=rot4", "--set", "wire.up=rot1"});
}

TEST(Train, WithFewBitsItLearnsForAFractionOfTheBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "all", 15)).status, 0);
  const Outcome outcome = run_program(with_few_bits(small_run(folder / "few", 15)));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto all = log_of(folder / "all"), few = log_of(folder / "few");
  EXPECT_LT(few.back().at("train_loss"), 0.8 * few.front().at("train_loss").get<double>());
  EXPECT_NEAR(few.back().at("train_loss"), all.back().at("train_loss"), 0.3);
  EXPECT_LT(few[0].at("bytes_down"), all[0].at("bytes_down").get<double>() / 7.5);
  EXPECT_LT(few[0].at("bytes_up"), all[0].at("bytes_up").get<double>() / 28);
  expect_one_line_error(run_program(with(small_run(folder / "bad"), {"--set", "wire.up=rot9"})), 2,
                        "nearest: rot");
}

TEST(Train, OneAndTwoThreadsGiveTheSameBytes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(with(small_run(folder / "one"), {"--threads", "1"})).status, 0);
  ASSERT_EQ(run_program(with(small_run(folder / "two"), {"--threads", "2"})).status, 0);
  EXPECT_EQ(read_file(folder / "one" / "model.safetensors"), read_file(folder / "two" / "model.safetensors"));
}

TEST(Train, KilledAtRandomMomentsAndResumedGivesTheSameBytes) {
  const TemporaryFolder folder;
  constexpr uint32_t kRounds = 40;
  const auto run = [&](const char* name) { return with_few_bits(small_run(folder / name, kRounds)); };
  ASSERT_EQ(run_program(run("whole")).status, 0);

  // Each time once its log has grown, and then some milliseconds later.
  Random random({.seed = 7});
  const auto log = folder / "killed" / "rounds.jsonl";
  const auto size_of_log = [&] {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(log, none_yet);
    return none_yet ? 0 : size;
  };
  const auto killed_later = [&] {
    return ProgramOptions{.signal_when = [&, before = size_of_log(), wait = random.below(10)]() mutable {
      return size_of_log() > before && wait-- == 0;
    }};
  };
  Outcome outcome = run_program(run("killed"), killed_later());
  ASSERT_EQ(outcome.status, -1) << "killed too late to show anything";
  const std::vector<std::string> resume{"train", "--resume", (folder / "killed").string()};
  for (int i = 0; i < 3 && outcome.status != 0; ++i) outcome = run_program(resume, killed_later());
  if (outcome.status != 0) outcome = run_program(resume);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "killed" / "model.safetensors"));
  EXPECT_EQ(log_of(folder / "killed").size(), kRounds);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "killed")) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << "left behind: " << entry.path();
  }
}

TEST(Train, CtrlCFinishesCleanlyAndSaysHowToGoOn) {
  const TemporaryFolder folder;
  constexpr uint32_t kRounds = 40;
  ASSERT_EQ(run_program(small_run(folder / "whole", kRounds)).status, 0);
  const auto first_round_is_done = [&] {
    std::error_code none_yet;
    const auto size = std::filesystem::file_size(folder / "run" / "rounds.jsonl", none_yet);
    return !none_yet && size > 0;
  };
  const Outcome stopped =
      run_program(small_run(folder / "run", kRounds), {.signal_when = first_round_is_done, .signal = SIGINT});
  ASSERT_EQ(stopped.status, 130) << stopped.err;
  ASSERT_LT(log_of(folder / "run").size(), kRounds) << "the signal came too late to test anything";
  EXPECT_NE(stopped.out.find("subfleet train --resume " + (folder / "run").string()), std::string::npos)
      << stopped.out;
  ASSERT_EQ(run_program({"train", "--resume", (folder / "run").string()}).status, 0);
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "run" / "model.safetensors"));
}

TEST(Train, AfterCtrlCResumeAndKillTheOldModelIsNotTested) {
  const TemporaryFolder folder;
  const auto path = folder / "run", model = path / "model.safetensors";
  const auto begun = [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(path / "rounds.jsonl", none_yet) > 0 && !none_yet;
  };
  ASSERT_EQ(run_program(small_run(path, 1000), {.signal_when = begun, .signal = SIGINT}).status, 130);
  const std::string old = read_file(model);
  EXPECT_EQ(run_program({"test", path.string()}).status, 0) << "the model of a run that was stopped";
  const auto goes_on = [&] { return !std::filesystem::exists(model); };
  const std::vector<std::string> resume{"train", "--resume", path.string()};
  ASSERT_EQ(run_program(resume, {.signal_when = goes_on}).status, -1);
  expect_one_line_error(run_program({"test", path.string()}), 2, "subfleet train --resume");
  const size_t before = log_of(path).size();
  const auto grows = [&] { return log_of(path).size() > before; };
  ASSERT_EQ(run_program(resume, {.signal_when = grows}).status, -1);
  write_file(model, old);  // as older versions left it
  expect_one_line_error(run_program({"test", path.string()}), 2, "model.safetensors: is of round");
}

TEST(Train, ClosedStandardDescriptorsAreNotTakenByFiles) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  ASSERT_EQ(run_program(small_run(run), {.closed = {0, 1}}).status, 0);
  EXPECT_EQ(log_of(run).size(), 6u);
  EXPECT_EQ(read_file(folder / "run" / ".lock"), "");
  EXPECT_EQ(run_program({"report", run}, {.closed = {1, 2}}).status, 0);
  EXPECT_EQ(run_program({"report", run}, {.closed = {0, 1, 2}}).status, 0);
}

TEST(Train, ASignalToEndIsNotSuccess) {
  const TemporaryFolder folder;
  const auto begun = [&] {
    std::error_code none_yet;
    return std::filesystem::file_size(folder / "run" / "rounds.jsonl", none_yet) > 0 && !none_yet;
  };
  const Outcome stopped =
      run_program(small_run(folder / "run", 4000), {.signal_when = begun, .signal = SIGTERM});
  EXPECT_EQ(stopped.status, 143) << stopped.err;
}

TEST(Train, AResumedRunKeepsEveryLayersCode) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  ASSERT_EQ(run_program(with(small_run(folder / "run", 2),
                             {"--set", "code.layers.dense2.keep=0.25", "--set", "code.family=random"}))
                .status,
            0);
  expect_one_line_error(run_program({"train", "--resume", run, "--set", "code.layers.dense2.family=cwc"}), 2,
                        "code.layers.dense2.family: cannot change");
  expect_one_line_error(run_program({"train", "--resume", run, "--set", "code.layers.dense2.keep=0.75"}), 2,
                        "code.layers.dense2.keep: cannot change");
  std::string config = read_file(folder / "run" / "config.toml");
  const size_t line = config.find("layers.dense2.keep");
  ASSERT_NE(line, std::string::npos);
  config.erase(line, config.find('\n', line) + 1 - line);
  write_file(folder / "run" / "config.toml", config);
  expect_one_line_error(run_program({"train", "--resume", run, "--set", "run.rounds=3"}), 2,
                        "was saved with code.layers.dense2.keep = 0.25, not unset");
}

TEST(Train, ARunRemembersWhereItCameFromAndRefusesOtherData) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "texts");
  for (int client = 0; client < 6; ++client)
    write_file(folder / "texts" / (std::to_string(client) + ".txt"), std::string(300 + client, 'a'));
  const std::vector<std::string> run{"train",
                                     "--out",
                                     (folder / "run").string(),
                                     "--set",
                                     "data.source=text",
                                     "--set",
                                     "data.path=" + (folder / "texts").string(),
                                     "--set",
                                     "model.name=char-lstm",
                                     "--set",
                                     "round.clients=2",
                                     "--set",
                                     "run.rounds=1",
                                     "--set",
                                     "code.keep=0.25",
                                     "--set",
                                     "code.family=random"};
  const Outcome begun = run_program(run);
  ASSERT_EQ(begun.status, 0) << begun.err;
  const auto provenance = nlohmann::json::parse(read_file(folder / "run" / "provenance.json"));
  EXPECT_EQ(provenance["data"]["source"], "text");
  EXPECT_EQ(provenance["data"]["clients"], 6);
  EXPECT_EQ(provenance["data"]["hash"].get<std::string>().size(), 16u);
  EXPECT_EQ(provenance["initial"], nullptr);
  EXPECT_EQ(provenance["sessions"][0]["version"], run_program({"--version"}).out.substr(9, 5));
  EXPECT_EQ(provenance["sessions"][0]["device"], "cpu");
  EXPECT_NE(provenance["sessions"][0]["kernels"], "");

  write_file(folder / "texts" / "3.txt", std::string(303, 'b'));
  expect_one_line_error(
      run_program({"train", "--resume", (folder / "run").string(), "--set", "run.rounds=2"}), 2,
      "was trained on other data");
}

TEST(Train, AResumedRunStaysOnItsDevice) {
  const TemporaryFolder folder;
  const std::vector<std::string> reference{"--device", "reference"};
  ASSERT_EQ(run_program(with(small_run(folder / "whole", 3), reference)).status, 0);
  ASSERT_EQ(run_program(with(small_run(folder / "run", 2), reference)).status, 0);
  const std::vector<std::string> resume{"train", "--resume", (folder / "run").string(), "--set"};
  ASSERT_EQ(run_program(with(resume, {"run.rounds=3"})).status, 0);
  EXPECT_EQ(read_file(folder / "run" / "model.safetensors"),
            read_file(folder / "whole" / "model.safetensors"));
  const Outcome moved = run_program(with(resume, {"run.rounds=4", "--device", "cpu"}));
  ASSERT_EQ(moved.status, 0) << moved.err;
  EXPECT_NE(moved.out.find("it may round differently"), std::string::npos) << moved.out;
}

TEST(Train, TheFileItBeganWithIsNamedWithItsHash) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "one", 1)).status, 0);
  const std::string model = (folder / "one" / "model.safetensors").string();
  ASSERT_EQ(run_program(with(small_run(folder / "two", 1), {"--init", model})).status, 0);
  const auto provenance = nlohmann::json::parse(read_file(folder / "two" / "provenance.json"));
  EXPECT_EQ(provenance["initial"]["file"], model);
  EXPECT_EQ(provenance["initial"]["hash"].get<std::string>().size(), 16u);
}

TEST(Train, RunsStartedInTheSameSecondGetFoldersOfTheirOwn) {
  const TemporaryFolder folder;
  std::vector<std::string> run = small_run("", 1);
  run.erase(run.begin() + 1, run.begin() + 3);  // without --out
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = run_program(run, {.folders = {folder / "."}});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  const auto runs = std::filesystem::directory_iterator(folder / "runs");
  EXPECT_EQ(std::distance(begin(runs), end(runs)), 3);
}

TEST(Train, ANetworkOfTheUsersOwnTrainsAndGoesOn) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  write_file(file,
             "input = [1, 28, 28]\n[[layer]]\ntype = \"conv2d\"\nunits = 4\nkernel = 3\n[[layer]]\ntype = "
             "\"maxpool\"\nkernel = 4\n[[layer]]\ntype = \"flatten\"\n[[layer]]\ntype = \"dense\"\nunits = "
             "32\n[[layer]]\ntype = \"relu\"\n[[layer]]\ntype = \"dense\"\nunits = 62\n");
  const auto own = [&](const std::string& out, uint32_t rounds) {
    std::vector<std::string> run = small_run(folder / out, rounds);
    std::erase(run, "model.name=emnist-mlp");
    run.erase(std::find(run.begin(), run.end(), "--set"));
    return with(run, {"--set", "model.file=" + file});
  };
  const Outcome whole = run_program(own("whole", 3));
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_NE(whole.out.find("mine, gold codes"), std::string::npos) << whole.out;
  ASSERT_EQ(run_program(own("run", 1)).status, 0);
  std::filesystem::remove(file);  // the run has its own copy
  ASSERT_EQ(run_program({"train", "--resume", (folder / "run").string(), "--set", "run.rounds=3"}).status, 0);
  EXPECT_EQ(read_file(folder / "run" / "model.safetensors"),
            read_file(folder / "whole" / "model.safetensors"));
  write_file(folder / "other.toml",
             "input = [1, 28, 28]\n[[layer]]\ntype = \"flatten\"\n[[layer]]\ntype = "
             "\"dense\"\nunits = 62\n");
  const std::string before = read_file(folder / "run" / "model.toml");
  expect_one_line_error(run_program({"train", "--resume", (folder / "run").string(), "--set",
                                     "model.file=" + (folder / "other.toml").string()}),
                        2, "other");
  EXPECT_EQ(read_file(folder / "run" / "model.toml"), before);
  std::string model = before;
  model.replace(model.find("32"), 2, "64");
  write_file(folder / "run" / "model.toml", model);
  expect_one_line_error(
      run_program({"train", "--resume", (folder / "run").string(), "--set", "run.rounds=4"}), 2,
      "was saved for another model");
}

TEST(Train, ResumeCanMakeARunLongerButNotDifferent) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "six", 6)).status, 0);
  ASSERT_EQ(run_program(small_run(folder / "run", 3)).status, 0);
  expect_one_line_error(
      run_program({"train", "--resume", (folder / "run").string(), "--set", "server.lr=0.5"}), 2,
      "server.lr: cannot change");
  ASSERT_EQ(run_program({"train", "--resume", (folder / "run").string(), "--set", "run.rounds=6"}).status, 0);
  EXPECT_EQ(read_file(folder / "six" / "model.safetensors"), read_file(folder / "run" / "model.safetensors"));
}

TEST(Train, ADamagedRunIsRefusedInOneLineAndLeftAlone) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "run", 3)).status, 0);
  const std::vector<std::string> resume{"train", "--resume", (folder / "run").string()};
  const auto with_file = [&](const std::string& name, const std::string& content,
                             const std::string& complaint) {
    const std::string good = read_file(folder / "run" / name);
    write_file(folder / "run" / name, content);
    expect_one_line_error(run_program(resume), 2, complaint);
    EXPECT_EQ(read_file(folder / "run" / name), content);
    write_file(folder / "run" / name, good);
  };
  const std::string log = read_file(folder / "run" / "rounds.jsonl");
  const std::string config = read_file(folder / "run" / "config.toml");
  const std::string checkpoint = read_file(folder / "run" / "checkpoint.safetensors");
  with_file("checkpoint.safetensors", checkpoint.substr(0, checkpoint.size() / 2), "safetensors");
  with_file("rounds.jsonl", log.substr(0, log.find('\n') + 1), "has 1 rounds");
  with_file("rounds.jsonl", "nonsense\n" + log, "rounds.jsonl");
  with_file("config.toml", "[run\n", "config.toml");
  std::string other_seed = config;
  other_seed.replace(config.find("\nseed = 0", config.find("[run]")), 9, "\nseed = 8");
  with_file("config.toml", other_seed, "run.seed");
  expect_one_line_error(run_program(with(resume, {"--set", "run.rounds=2"})), 2, "run.rounds");
  ASSERT_EQ(run_program(resume).status, 0) << "and it is as good as before";
}

TEST(Train, TwoProcessesNeverTrainOneRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "run", 2)).status, 0);
  const int lock = ::open((folder / "run" / ".lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  expect_one_line_error(run_program({"train", "--resume", (folder / "run").string()}), 2, "another process");
  ::close(lock);
  EXPECT_EQ(run_program({"train", "--resume", (folder / "run").string()}).status, 0);
}

TEST(Train, AFolderWithOtherFilesIsLeftAlone) {
  const TemporaryFolder folder;
  make_folder(folder / "mine");
  write_file(folder / "mine" / "page.tmpl", "mine");
  expect_one_line_error(run_program(small_run(folder / "mine")), 2, "is not empty");
  EXPECT_EQ(read_file(folder / "mine" / "page.tmpl"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder / "mine" / ".lock"));
}

TEST(Train, WithNothingToTestThereIsNoAccuracy) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(with(small_run(folder / "run", 2), {"--set", "data.test_fraction=0"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(log_of(folder / "run").back().contains("test_accuracy"));
  EXPECT_NE(outcome.out.find("nothing to test with"), std::string::npos) << outcome.out;
}

TEST(Train, AFullDiskIsOneLineAndTheLastGoodCheckpointSurvives) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "whole", 4)).status, 0);
  ASSERT_EQ(run_program(small_run(folder / "run", 2)).status, 0);
  const std::string checkpoint = read_file(folder / "run" / "checkpoint.safetensors");
  const std::vector<std::string> go_on{"train", "--resume", (folder / "run").string(), "--set",
                                       "run.rounds=4"};
  expect_one_line_error(run_program(go_on, {.largest_file = 100'000}), 1,
                        "checkpoint.safetensors: cannot be written");
  EXPECT_EQ(read_file(folder / "run" / "checkpoint.safetensors"), checkpoint);
  expect_one_line_error(run_program({"test", (folder / "run").string()}), 2, "subfleet train --resume");
  ASSERT_EQ(run_program(go_on).status, 0);
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "run" / "model.safetensors"));
}

TEST(Train, AFolderThatCannotBeWrittenIsOneLine) {
  const TemporaryFolder folder;
  write_file(folder / "file", "in the way");
  expect_one_line_error(run_program(small_run(folder / "file")), 1, "is a file, not a folder");
  if (::getuid() == 0) {  // root writes to read-only folders; /proc refuses even root
    expect_one_line_error(run_program(small_run("/proc/subfleet-run")), 1, "/proc/subfleet-run");
  } else {
    make_folder(folder / "closed");
    std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_read);
    expect_one_line_error(run_program(small_run(folder / "closed" / "run")), 1, "closed");
  }
}

TEST(Train, BadRequestsAreOneLineWithStatusTwo) {
  const TemporaryFolder folder;
  const auto run = small_run(folder / "run", 2);
  expect_one_line_error(run_program(with(run, {"--set", "code.family=glod"})), 2, "nearest: gold");
  expect_one_line_error(run_program(with(run, {"--set", "round.client=3"})), 2, "nearest: round.clients");
  expect_one_line_error(run_program(with(run, {"--set", "round.clients"})), 2, "key=value");
  expect_one_line_error(run_program(with(run, {"--set", "round.clients=41"})), 2, "only 40");
  expect_one_line_error(run_program(with(run, {"--device", "tpu"})), 2, "tpu");
  expect_one_line_error(run_program(with(run, {"--init", (folder / "none").string()})), 2, "cannot be read");
  expect_one_line_error(run_program(with(run, {"--thread", "2"})), 2, "nearest: --threads");
  expect_one_line_error(run_program(with(run, {"--threads", "-1"})), 2, "whole number from 0 to 1024");
  expect_one_line_error(run_program(with(run, {"--init", ""})), 2, "empty");
  expect_one_line_error(run_program({"trian"}), 2, "nearest: train");
  expect_one_line_error(run_program({"train", "--resume", (folder / "none").string()}), 2, "holds no run");
  expect_one_line_error(run_program({"train", (folder / "none.toml").string()}), 2, "none.toml");
  EXPECT_FALSE(std::filesystem::exists(folder / "run")) << "a wrong request leaves nothing behind";
  ASSERT_EQ(run_program(run).status, 0);
  expect_one_line_error(run_program(run), 2, "holds a run already");
}

TEST(Train, InitStartsFromGivenWeightsAndRefusesOthers) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "given", 2)).status, 0);
  const std::string given = (folder / "given" / "model.safetensors").string();
  // A server that hardly moves: what a run ends with is what it started from.
  const auto barely = [&](const std::string& name) {
    return with(small_run(folder / name, 2), {"--set", "server.lr=1e-30", "--set", "run.seed=7"});
  };
  ASSERT_EQ(run_program(with(barely("from-given"), {"--init", given})).status, 0);
  ASSERT_EQ(run_program(barely("from-seed")).status, 0);
  EXPECT_EQ(read_file(folder / "from-given" / "model.safetensors"), read_file(given));
  EXPECT_NE(read_file(folder / "from-seed" / "model.safetensors"), read_file(given));
  const auto other =
      with(small_run(folder / "other", 1), {"--set", "model.name=emnist-cnn", "--init", given});
  expect_one_line_error(run_program(other), 2, "which emnist-cnn needs");
}

TEST(Train, QuietPrintsNothing) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(with(small_run(folder / "run", 2), {"--quiet"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace subfleet
