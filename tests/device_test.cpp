// Choosing a device and measuring it, as a user meets it. Nothing here needs a GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/codec.h"
#include "subfleet/trainer.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// The one that computes on the CPU in this build, which may be without oneDNN.
std::string cpu_device() {
  const std::vector<std::string> names = trainer_names();
  return std::ranges::find(names, "cpu") != names.end() ? "cpu" : "reference";
}

std::vector<std::string> quick_run(const std::filesystem::path& folder) {
  return {"train", "--out", folder.string(), "--quiet"};
}

std::vector<std::string> with_settings(std::vector<std::string> command) {
  for (const char* setting : {"model.name=emnist-linear", "code.family=none", "data.writers=6",
                              "round.clients=2", "run.rounds=1", "run.eval_every=1"}) {
    command.insert(command.end(), {"--set", setting});
  }
  return command;
}

const std::vector<std::string> kQuickBench{"bench", "round",  "--model",  "emnist-mlp", "--samples",
                                           "2",     "--json", "--repeat", "1"};

TEST(Device, OnlyAGpuComputesInTf32) {
  const TemporaryFolder folder;
  const auto run = with_settings(quick_run(folder / "run"));
  for (const char* device : {"cpu", "reference"}) {
    const std::string why = std::string(device) + " computes in f32 alone; tf32 goes with --device cuda";
    expect_one_line_error(run_program(with(run, {"--device", device, "--precision", "tf32"})), 2, why);
    expect_one_line_error(run_program({"bench", "round", "--device", device, "--precision", "tf32"}), 2, why);
  }
  expect_one_line_error(run_program(with(run, {"--precision", "tf32"})), 2, "cpu computes in f32 alone");
  expect_one_line_error(run_program(with(run, {"--device", "cuda-tf32", "--precision", "f32"})), 2,
                        "f32 is --device cuda");
  expect_one_line_error(run_program(with(run, {"--device", "cuda", "--precision", "f16"})), 2, "f32");
  expect_one_line_error(run_program(with(run, {"--device", "tpu", "--precision", "tf32"})), 2, "tpu");
  expect_one_line_error(run_program({"bench", "round", "--device", "cpo"}), 2, "nearest: cpu");
  expect_one_line_error(run_program({"tune", "--precision", "tf32"}), 2, "cpu computes in f32 alone");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  EXPECT_EQ(run_program(with(run, {"--device", cpu_device(), "--precision", "f32"})).status, 0);
}

// Whatever the machine has: where there is no GPU, both say the same about it.
TEST(Device, TheGpusTf32IsADeviceOfItsOwn) {
  const TemporaryFolder folder;
  const Outcome by_name =
      run_program(with(with_settings(quick_run(folder / "a")), {"--device", "cuda-tf32"}));
  const Outcome by_precision =
      run_program(with(with_settings(quick_run(folder / "b")), {"--device", "cuda", "--precision", "tf32"}));
  EXPECT_EQ(by_name.status, by_precision.status);
  EXPECT_EQ(by_name.err, by_precision.err);
  if (by_name.status != 0) return expect_one_line_error(by_name, by_name.status, "device cuda");
  const auto provenance = nlohmann::json::parse(read_file(folder / "b" / "provenance.json"));
  EXPECT_EQ(provenance["sessions"][0]["device"], "cuda-tf32");
}

TEST(Device, WithoutAGpuEveryCommandSaysSoInOneLine) {
  const std::vector<std::string> names = trainer_names();
  if (std::ranges::find(names, "cuda") != names.end()) GTEST_SKIP() << "there is a GPU";
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"train", "--out", out}, {"tune", "--out", out}, {"bench", "round"}}) {
    for (const char* device : {"cuda", "cuda-tf32"}) {
      const Outcome outcome = run_program(with(command, {"--device", device}));
      EXPECT_TRUE(outcome.status == 1 || outcome.status == 2) << outcome.status;
      expect_one_line_error(outcome, outcome.status, "device cuda: ");
      EXPECT_FALSE(std::filesystem::exists(out));
    }
  }
}

// A run that a GPU began goes on where there is none: with --device cpu, and not without.
TEST(Device, ARunOfAGpuGoesOnOnTheCpu) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(with(with_settings(quick_run(folder / "run")), {"--device", cpu_device()})).status,
            0);
  const std::filesystem::path file = folder / "run" / "provenance.json";
  auto provenance = nlohmann::json::parse(read_file(file));
  provenance["sessions"][0]["device"] = "cuda-tf32";
  write_file(file, provenance.dump());
  const std::vector<std::string> resume{"train", "--resume", (folder / "run").string(), "--set",
                                        "run.rounds=2"};
  const Outcome same = run_program(resume);
  if (same.status != 0) expect_one_line_error(same, same.status, "device cuda");
  const Outcome moved =
      run_program(with(with(resume, {"--set", "run.rounds=3"}), {"--device", cpu_device()}));
  ASSERT_EQ(moved.status, 0) << moved.err;
  provenance = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(provenance["sessions"].back()["device"], cpu_device());
}

TEST(Device, TheListSaysWhichAreReady) {
  const Outcome outcome = run_program({"devices"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find(' '));
    if (name == "reference" || name == "cpu") {
      EXPECT_TRUE(line.ends_with("  ready")) << line;
    }
    found.push_back(name);
  }
  for (const std::string& device : device_names())
    EXPECT_EQ(std::count(found.begin(), found.end(), device), 1) << device << "\n" << outcome.out;
}

TEST(Bench, CandidatesTrainTogether) {
  const Outcome outcome = run_program(
      with(kQuickBench, {"--clients", "3", "--candidates", "2", "--keep", "0.5", "--device", "reference"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto row = nlohmann::json::parse(outcome.out).at(0);
  EXPECT_EQ(row["device"], "reference");
  EXPECT_EQ(row["candidates"], 2);
  EXPECT_EQ(row["share_of_peak"], nullptr) << "nobody knows the peak of plain loops";
  EXPECT_NEAR(row["samples_per_second"].get<double>() * row["round_ms"].get<double>() / 1e3, 2 * 3 * 2, 1e-6);
}

TEST(Bench, ASweepVariesOneThingAtATime) {
  const Outcome outcome = run_program(with(kQuickBench, {"--sweep"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  size_t base = 0;
  const auto rows = nlohmann::json::parse(outcome.out);
  for (const auto& row : rows) {
    const int differing = (row["clients"] != 35) + (row["keep"] != 0.5) + (row["batch"] != 10);
    EXPECT_LE(differing, 1) << row;
    base += differing == 0 ? 1 : 0;
  }
  EXPECT_EQ(base, 1u);
  EXPECT_EQ(rows.size(), 5u + 2u + 3u);
  expect_one_line_error(run_program(with(kQuickBench, {"--sweep", "--clients", "3"})), 2, "--clients");
}

TEST(Bench, AModelFileCanBeMeasured) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  std::string toml = run_program({"model", "emnist-mlp", "--toml"}).out;
  write_file(file, toml.replace(toml.find("emnist-mlp"), 10, "mine"));
  const Outcome outcome = run_program(
      {"bench", "round", "--model", file, "--clients", "2", "--samples", "2", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at(0)["model"], "mine");
  expect_one_line_error(run_program({"bench", "round", "--model", (folder / "none.toml").string()}), 2,
                        "none.toml");
}

TEST(Bench, EveryCodecIsMeasured) {
  const Outcome outcome = run_program({"bench", "codec", "--values", "5000", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), codec_names().size());
  for (const auto& row : rows) {
    const Codec& codec = find_codec(row["codec"].get<std::string>());
    EXPECT_EQ(row["bytes_per_value"], static_cast<double>(codec.encoded_size(5000)) / 5000);
    EXPECT_EQ(row["squared_error"] == 0.0, codec.lossless()) << row;
    EXPECT_LT(row["squared_error"], 0.7) << row;
  }
  const Outcome table = run_program({"bench", "codec", "--values", "100", "--repeat", "1"});
  EXPECT_NE(table.out.find("rot8"), std::string::npos) << table.out;
}

TEST(Bench, ARoundIsMeasuredWithItsCodecs) {
  const Outcome outcome =
      run_program(with(kQuickBench, {"--clients", "2", "--down", "rot4", "--up", "rot1"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at(0)["down"], "rot4");
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at(0)["up"], "rot1");
  expect_one_line_error(run_program({"bench", "round", "--up", "rot0"}), 2, "nearest: rot");
}

}  // namespace
}  // namespace subfleet
