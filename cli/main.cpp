#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.h"
#include "help.h"
#include "interrupt.h"
#include "subfleet/base/version.h"
#include "subfleet/config.h"
#include "subfleet/error.h"
#include "subfleet/fleet/ranks.h"

namespace {

using subfleet::Error;

constexpr int kWorkFailed = 1;
constexpr int kRequestWrong = 2;

// One line, whatever is in the names that it quotes.
int complain(std::string message, int status) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  fmt::print(stderr, "subfleet: {}\n", message);
  return status;
}

// What the command line can hold at the place where parsing stopped: the commands, or a command's options.
std::vector<std::string> known_words(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> words;
  for (const CLI::App* inner : command->get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(inner->get_name());
  }
  if (!words.empty()) return words;
  for (const CLI::Option* option : command->get_options()) {
    if (!option->get_lnames().empty()) words.push_back("--" + option->get_lnames().front());
  }
  return words;
}

// What the user meant by an option that is really a setting: "--rounds 5" is "--set run.rounds=5".
std::string setting_meant(std::span<char* const> words) {
  const std::string_view option = words.front();
  if (!option.starts_with("--")) return {};
  const size_t equals = option.find('=');
  std::string name(option.substr(2, equals == std::string::npos ? equals : equals - 2)), value = "VALUE";
  std::replace(name.begin(), name.end(), '-', '_');
  if (equals != std::string::npos) {
    value = option.substr(equals + 1);
  } else if (words.size() > 1 && !std::string_view(words[1]).starts_with("--")) {
    value = words[1];
  }
  std::string meant;
  for (const bool of_the_run : {true, false}) {  // run.seed before data.seed
    for (const subfleet::Setting& setting : subfleet::settings({})) {
      const bool first = setting.name.starts_with("run.") || setting.name.starts_with("round.");
      if (first != of_the_run || (setting.name != name && !setting.name.ends_with("." + name))) continue;
      meant += fmt::format("{}--set {}={}", meant.empty() ? "" : " or ", setting.name, value);
    }
  }
  return meant;
}

int complain_of_command_line(const CLI::App& program, const CLI::ParseError& error,
                             std::span<char* const> words) {
  const std::vector<std::string> unexpected = program.remaining(true);
  if (!unexpected.empty()) {
    const std::vector<std::string> known = known_words(program);
    const auto at = std::find_if(words.begin(), words.end(),
                                 [&](const char* word) { return unexpected.front() == word; });
    const std::string meant = at == words.end() ? "" : setting_meant({at, words.end()});
    if (!meant.empty() && std::find(known.begin(), known.end(), "--set") != known.end()) {
      return complain(
          fmt::format("command line: unknown '{}'; it is a setting: {}", unexpected.front(), meant),
          kRequestWrong);
    }
    return complain(subfleet::unknown_name("command line", unexpected.front(), known).what(), kRequestWrong);
  }
  return complain(
      fmt::format("{}; '{}' lists what there is", error.what(), subfleet::cli::help_command(program)),
      kRequestWrong);
}

// The commands whose work the ranks of mpirun share; of any other, rank 0 alone is enough.
bool is_shared(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  return command == "train" || command == "tune";
}

int run(int argc, char** argv, subfleet::Ranks& ranks) {
  if (!ranks.leads() && !is_shared(argc, argv)) return 0;
  CLI::App program("Subfleet: federated learning in which every device trains a different, coded sub-model",
                   "subfleet");
  program.require_subcommand(1);
  const auto formatter = std::make_shared<subfleet::cli::HelpFormatter>();
  formatter->label("UINT", "N");
  formatter->label("FLOAT", "X");
  program.formatter(formatter);
  program.footer("'subfleet COMMAND --help' says more, with examples.");
  std::string version = fmt::format("subfleet {}\n{}", subfleet::version(), subfleet::build_description());
  version.pop_back();  // CLI11 adds the last newline
  program.set_version_flag("--version", version, "Print the version and what this build has, and exit");
  try {
    subfleet::cli::add_train_command(program, ranks);
    subfleet::cli::add_tune_command(program, ranks);
    subfleet::cli::add_sweep_command(program);
    subfleet::cli::add_node_command(program);
    subfleet::cli::add_plan_command(program);
    subfleet::cli::add_codes_command(program);
    subfleet::cli::add_model_command(program);
    subfleet::cli::add_data_command(program);
    subfleet::cli::add_report_command(program);
    subfleet::cli::add_reproduce_command(program);
    subfleet::cli::add_test_command(program);
    subfleet::cli::add_bench_command(program);
    subfleet::cli::add_devices_command(program);
    subfleet::cli::add_generate_command(program);
    program.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return complain("standard output: cannot be written", kWorkFailed);
    }
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return ranks.leads() ? program.exit(success) : 0;
  } catch (const CLI::ParseError& error) {
    return ranks.leads() ? complain_of_command_line(program, error, {argv, static_cast<size_t>(argc)}) : 0;
  } catch (const subfleet::cli::Stopped& stopped) {
    std::fflush(stdout);
    return 128 + stopped.signal;
  }
}

// The parent process may have closed some of them. The next file that is opened would take their place, and
// output would go into it.
void open_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDWR);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, like a full disk
  try {
    subfleet::Ranks ranks(argc, argv);
    try {
      return run(argc, argv, ranks);
    } catch (const Error& error) {
      return complain(error.what(), error.kind() == Error::Kind::kRequest ? kRequestWrong : kWorkFailed);
    } catch (const std::bad_alloc&) {
      return complain("out of memory", kWorkFailed);
    } catch (const std::length_error&) {  // more than any memory holds
      return complain("out of memory", kWorkFailed);
    } catch (const std::filesystem::filesystem_error& error) {  // a path that is too long, for one
      return complain(fmt::format("{}: cannot be used ({})", error.path1().string(), error.code().message()),
                      kWorkFailed);
    } catch (const std::system_error& error) {  // a thread beside the pool's, where memory is short
      const bool thread = error.code() == std::errc::resource_unavailable_try_again;
      return complain(thread ? "threads: not one more can be started" : error.what(), kWorkFailed);
    } catch (const std::exception& error) {
      return complain(error.what(), kWorkFailed);
    }
  } catch (const Error& error) {
    return complain(error.what(), kRequestWrong);
  }
}
