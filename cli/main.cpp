#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "commands.h"
#include "subfleet/error.h"

namespace {

constexpr int kWorkFailed = 1;
constexpr int kRequestWrong = 2;

int complain(const std::string& message, int status) {
  fmt::print(stderr, "subfleet: {}\n", message);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  using subfleet::Error;
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, like a full disk
  CLI::App program("Subfleet: federated learning in which every device trains a different, coded sub-model",
                   "subfleet");
  program.require_subcommand(1);
  program.set_version_flag("--version", "subfleet 0.1.0");
  try {
    subfleet::cli::add_train_command(program);
    subfleet::cli::add_plan_command(program);
    subfleet::cli::add_codes_command(program);
    subfleet::cli::add_data_command(program);
    subfleet::cli::add_report_command(program);
    program.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{}; 'subfleet --help' lists what there is", error.what()), kRequestWrong);
  } catch (const Error& error) {
    return complain(error.what(), error.kind() == Error::Kind::kRequest ? kRequestWrong : kWorkFailed);
  } catch (const std::exception& error) {
    return complain(error.what(), kWorkFailed);
  }
}
