#include "program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// A file that the tests run: the one they were built with, or what the variable says, even if it says none.
std::string program_file(const char* variable, const char* built) {
  const char* said = std::getenv(variable);
  return said == nullptr ? built : said;
}

std::string mpiexec() { return program_file("SUBFLEET_MPIEXEC", SUBFLEET_MPIEXEC); }

// Where every rank leaves its process number, beside what it prints.
std::string pids_of(const std::string& out) { return out + ".pid"; }

[[noreturn]] void become(std::vector<std::string> arguments, const std::string& out, const std::string& err,
                         const ProgramOptions& options) {
  ::dup2(::open(out.c_str(), O_WRONLY), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY), STDERR_FILENO);
  const auto limit = [](__rlimit_resource resource, const std::optional<size_t>& most) {
    if (!most) return;
    const rlimit both{*most, *most};
    ::setrlimit(resource, &both);
  };
  limit(RLIMIT_FSIZE, options.largest_file);
  limit(RLIMIT_AS, options.most_memory);
  arguments.insert(arguments.begin(), program_file("SUBFLEET_BINARY", SUBFLEET_BINARY));
  if (options.ranks > 0) {
    // A shell per rank goes to its folder, leaves its process number and becomes the program.
    constexpr auto kStart =
        "eval cd \"\\$FOLDER$OMPI_COMM_WORLD_RANK\" && echo $$ > \"$PIDS.$OMPI_COMM_WORLD_RANK\" && exec "
        "\"$@\"";
    for (size_t rank = 0; rank < options.ranks; ++rank) {
      const std::string folder =
          options.folders.empty() ? std::filesystem::current_path().string() : options.folders[rank].string();
      ::setenv(("FOLDER" + std::to_string(rank)).c_str(), folder.c_str(), 1);
    }
    ::setenv("PIDS", pids_of(out).c_str(), 1);
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // MPI's own
    const std::vector<std::string> launch{mpiexec(),
                                          "--allow-run-as-root",
                                          "--oversubscribe",
                                          "-n",
                                          std::to_string(options.ranks),
                                          "/bin/sh",
                                          "-c",
                                          kStart,
                                          "rank"};
    arguments.insert(arguments.begin(), launch.begin(), launch.end());
  }
  if (options.ranks == 0 && !options.folders.empty() && ::chdir(options.folders[0].c_str()) != 0)
    ::_exit(127);
  for (const int descriptor : options.closed) ::close(descriptor);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

bool can_run_ranks() { return !mpiexec().empty(); }

std::string tiny_model() { return SUBFLEET_TINY_MODEL; }

Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  const TemporaryFolder folder;
  const std::string out = (folder / "out").string(), err = (folder / "err").string();
  write_file(out, "");  // now, so that they are there however early the program is killed
  write_file(err, "");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become(arguments, out, err, options);
  int state = 0;
  if (options.signal_when) {
    while (!options.signal_when()) {
      if (::waitpid(child, &state, WNOHANG) == child) {
        return {WIFEXITED(state) ? WEXITSTATUS(state) : -1, read_file(out), read_file(err)};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::string pids = pids_of(out) + "." + std::to_string(options.signal_rank);
    ::kill(options.ranks == 0 ? child : std::stoi(read_file(pids)), options.signal);
  }
  ::waitpid(child, &state, 0);
  return {WIFEXITED(state) ? WEXITSTATUS(state) : -1, read_file(out), read_file(err)};
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void expect_one_line_error(const Outcome& outcome, int status, const std::string& containing) {
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.substr(0, 10), "subfleet: ");
  EXPECT_NE(outcome.err.find(containing), std::string::npos) << outcome.err;
}

}  // namespace subfleet
