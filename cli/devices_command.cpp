#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands.h"
#include "help.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/examples.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"

namespace subfleet::cli {
namespace {

// Enough to make a trainer with.
class NoExamples final : public ExampleSource {
 public:
  void read_train(uint32_t, Examples& into) const override { into = {}; }
  const Examples& test_set() const override { return none_; }

 private:
  Examples none_;
};

// "ready", or why not: the words of the error without what it is about, which stands before them.
std::string state_of(const std::string& device, ThreadPool& pool) {
  try {
    make_trainer(device, pool, NoExamples());
    return "ready";
  } catch (const Error& error) {
    const std::string why = error.what();
    const size_t colon = why.find(": ");
    return colon == std::string::npos ? why : why.substr(colon + 2);
  }
}

void list_devices() {
  ThreadPool pool(1);
  std::vector<std::vector<std::string>> lines{{"device", "computes with", "state"}};
  for (const std::string& device : device_names()) {
    const std::string state = state_of(device, pool);
    const std::string kernels = state == "ready" ? trainer_kernels(device) : "";
    lines.push_back({device, kernels.empty() ? "-" : kernels, state});
  }
  fmt::print("{}", align_table(lines, "lll"));
}

}  // namespace

void add_devices_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "devices",
      "List what --device can be: what each computes with, and whether or why not it can be used here");
  command->footer(footer("", {"subfleet devices"}));
  command->callback(list_devices);
}

}  // namespace subfleet::cli
