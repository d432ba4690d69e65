#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "subfleet/error.h"

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

int complain_of_command_line(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unexpected = program.remaining(true);
  if (!unexpected.empty()) {
    return complain(subfleet::unknown_name("command line", unexpected.front(), known_words(program)).what(),
                    kRequestWrong);
  }
  return complain(fmt::format("{}; 'subfleet --help' lists what there is", error.what()), kRequestWrong);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, like a full disk
  CLI::App program("Subfleet: federated learning in which every device trains a different, coded sub-model",
                   "subfleet");
  program.require_subcommand(1);
  program.set_version_flag("--version", "subfleet 0.1.0");
  try {
    subfleet::cli::add_train_command(program);
    subfleet::cli::add_tune_command(program);
    subfleet::cli::add_plan_command(program);
    subfleet::cli::add_codes_command(program);
    subfleet::cli::add_data_command(program);
    subfleet::cli::add_report_command(program);
    subfleet::cli::add_bench_command(program);
    program.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return complain("standard output: cannot be written", kWorkFailed);
    }
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain_of_command_line(program, error);
  } catch (const Error& error) {
    return complain(error.what(), error.kind() == Error::Kind::kRequest ? kRequestWrong : kWorkFailed);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kWorkFailed);
  } catch (const std::length_error&) {  // more than any memory holds
    return complain("out of memory", kWorkFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kWorkFailed);
  }
}
