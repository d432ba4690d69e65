#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

// What the program does with files that would hurt it and with less memory than it needs.
namespace subfleet {
namespace {

std::vector<std::string> small_run(const std::filesystem::path& folder, const std::string& model) {
  std::vector<std::string> arguments{"train", "--quiet", "--out", folder.string()};
  for (const char* setting : {"run.rounds=1", "round.clients=2", "data.writers=10", "run.eval_samples=50"})
    arguments = with(arguments, {"--set", setting});
  return with(arguments, {"--set", "model.name=" + model});
}

TEST(Limits, SettingsThatHaveNoEndAreRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_one_line_error(run_program({"plan", "/dev/zero"}), 2, "is not a plain file");
  expect_one_line_error(run_program({"plan", (folder / "pipe").string()}), 2, "nobody writes to");

  make_folder(folder / "run");
  std::filesystem::create_symlink("/dev/zero", folder / "run" / "config.toml");
  expect_one_line_error(run_program({"report", (folder / "run").string()}), 2, "is not a plain file");
  expect_one_line_error(run_program({"train", "--resume", (folder / "run").string()}), 2,
                        "is not a plain file");
}

TEST(Limits, AKeyOfManyPartsIsOneLine) {
  const TemporaryFolder folder;
  std::string key = "a";
  for (int i = 0; i < 40'000; ++i) key += ".a";
  make_folder(folder / "run");
  write_file(folder / "run" / "config.toml", key + " = 1\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"plan", (folder / "run" / "config.toml").string()},
        {"report", (folder / "run").string()},
        {"train", "--resume", (folder / "run").string()}}) {
    expect_one_line_error(run_program(arguments), 2, "line 1: a key of more than 16 parts");
  }
  EXPECT_EQ(run_program({"plan", "--set", "round.clients={" + key + "=1}"}).status, 2);
}

// Until nothing waits in the pipe, or half a minute has passed.
void wait_until_read(int pipe) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (int waiting = 1; waiting > 0 && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (::ioctl(pipe, FIONREAD, &waiting) != 0) return;
  }
}

// A command resolves its model several times, and a pipe can be read only once.
TEST(Limits, AModelFileMayBeAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "net.toml").string(), run = (folder / "run").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::string> settings{"--set", "model.file=" + pipe,  "--set", "round.clients=2",
                                          "--set", "data.writers=10",     "--set", "code.family=random",
                                          "--set", "run.eval_samples=50", "--set", "run.rounds=1"};
  expect_one_line_error(run_program(with({"plan"}, settings)), 2, "nobody writes to");
  for (const std::vector<std::string>& command :
       {with({"plan"}, settings), with({"train", "--quiet", "--out", run}, settings), {"model", pipe}}) {
    // Open for reading too, so that what is written waits in the pipe until the program comes.
    const int both = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(both, 0);
    append_to(both, read_file(tiny_model()), pipe);
    std::thread closing([&] {
      wait_until_read(both);
      ::close(both);
    });
    const Outcome outcome = run_program(command);
    closing.join();
    EXPECT_EQ(outcome.status, 0) << command.front() << ": " << outcome.err;
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / "model.toml"));
}

TEST(Limits, APipeAmongTheDataIsRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "x.json").c_str(), 0600), 0);
  expect_one_line_error(run_program({"data", "info", folder.path().string()}), 2,
                        "x.json: is not a file that can be read");
}

TEST(Limits, SmallRequestsForMuchMemoryAreOneLine) {
  const TemporaryFolder folder;
  std::string deep = "input = [1, 28, 28]\n";
  for (int i = 0; i < 2000; ++i) deep += "[[layer]]\ntype = \"conv2d\"\nunits = 1\nkernel = 1\n";
  write_file(folder / "deep.toml", deep);
  expect_one_line_error(run_program({"model", (folder / "deep.toml").string()}), 2,
                        "layer: 2000 layers are too many; a model has at most 256");
  expect_one_line_error(
      run_program({"plan", "--set", "data.writers=4000000000", "--set", "round.clients=1000000"}), 2,
      "round.clients: must be a whole number from 1 to 20000");
  expect_one_line_error(
      run_program({"plan", "--set", "data.writers=4000000000", "--set", "data.min_samples=100"}), 2,
      "data.min_samples: 100 is asked of 4000000000 writers");
  expect_one_line_error(run_program({"codes", "balanced", "--length", "100000000", "--rows", "2"}), 2,
                        "is not a whole number from 1 to 16777216");
}

TEST(Limits, AnOverlongOutIsOneLineOfOurOwn) {
  const std::string name(5000, 'a');
  for (const char* command : {"train", "tune"}) {
    const Outcome outcome = run_program({command, "--out", name});
    expect_one_line_error(outcome, 1, "cannot be used (File name too long)");
    EXPECT_EQ(outcome.err.find("filesystem error"), std::string::npos);
  }
}

TEST(Limits, MomentsThatAreNotFiniteAreRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(small_run(folder / "run", "emnist-mlp")).status, 0);
  std::string checkpoint = read_file(folder / "run" / "checkpoint.safetensors");
  const float infinity = std::numeric_limits<float>::infinity();
  checkpoint.replace(checkpoint.size() - sizeof infinity, sizeof infinity,
                     reinterpret_cast<const char*>(&infinity), sizeof infinity);
  // As in a checkpoint from before formats and hashes.
  for (const std::string name : {"\"hash\"", "\"format\""}) {
    const size_t at = checkpoint.find(name);
    ASSERT_NE(at, std::string::npos);
    checkpoint.replace(at + 1, 1, "_");
  }
  write_file(folder / "run" / "checkpoint.safetensors", checkpoint);
  expect_one_line_error(run_program({"train", "--resume", (folder / "run").string()}), 2, "are not finite");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The limits stop the program at many places: while it starts threads, holds the model, makes oneDNN's code.
TEST(Limits, OutOfMemoryIsOneLine) {
  const TemporaryFolder folder;
  size_t failures = 0;
  for (const char* threads : {"1", "4"}) {
    for (size_t megabytes = 100; megabytes <= 420; megabytes += 40) {
      std::filesystem::remove_all(folder / "run");
      const Outcome outcome =
          run_program(with(small_run(folder / "run", "emnist-cnn"), {"--threads", threads}),
                      {.most_memory = megabytes * 1'000'000});
      if (outcome.status == 0) continue;
      ++failures;
      EXPECT_EQ(outcome.status, 1) << megabytes << " MB, " << threads << " threads: " << outcome.err;
      EXPECT_TRUE(outcome.err == "subfleet: out of memory\n" ||
                  outcome.err.starts_with("subfleet: threads: "))
          << outcome.err;
    }
  }
  EXPECT_GT(failures, 10U);
}
#endif

}  // namespace
}  // namespace subfleet
