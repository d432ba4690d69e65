#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace subfleet {

// What became of one run of the program.
struct Outcome {
  int status = -1;  // exit status; -1 if a signal ended it
  std::string out, err;
};

struct ProgramOptions {
  std::function<bool()> signal_when = {};  // asked every millisecond; once it holds, `signal` is sent
  int signal = 9;
  std::optional<size_t> largest_file = {};  // bytes; a write beyond it fails as on a full disk
  std::optional<size_t> most_memory = {};   // bytes of address space; not with sanitizers, which need more
  std::vector<int> closed = {};             // of the descriptors 0, 1 and 2
  uint32_t ranks = 0;                       // started by mpirun; 0: the program alone
  uint32_t signal_rank = 0;                 // with ranks: which of them `signal` is sent to
  std::vector<std::filesystem::path> folders = {};  // where it, or each rank, runs; none: here
};

// Whether this build can be started by mpirun, or by what the variable SUBFLEET_MPIEXEC names.
bool can_run_ranks();

// Runs the built `subfleet`, or the one that the variable SUBFLEET_BINARY names, with these arguments and
// waits for its end.
Outcome run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

// The file of a network with few weights, for tests of what happens around the training.
std::string tiny_model();

// The arguments and, behind them, more.
std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more);

// That the program failed with this status and one line, which says so.
void expect_one_line_error(const Outcome& outcome, int status, const std::string& containing);

}  // namespace subfleet
