#include <fmt/format.h>

#include <memory>
#include <optional>

#include "commands.h"
#include "subfleet/safetensors.h"
#include "training.h"

namespace subfleet::cli {
namespace {

void train(const TrainingOptions& options) {
  if (options.show_settings) return print_settings();
  check_resume(options);
  ThreadPool pool(options.threads);
  std::optional<RunWriter> writer;
  if (!options.resume.empty()) writer.emplace(RunWriter::reopen(options.resume));
  const Config config = writer ? resumed_config(options, writer->config()) : options.config.config();

  LocalFleet fleet = make_fleet(config, options, pool);
  Run run(config, fleet, pool);
  uint64_t bytes = 0;
  if (writer) {
    bytes = writer->restore(config, run);
  } else {
    if (!options.init.empty())
      run.set_weights(weights_from(load_safetensors(options.init), run.model(), options.init));
    const std::string folder = options.out.empty()
                                   ? default_folder(config.code.family + "-" + config.server.optimizer)
                                   : options.out;
    writer.emplace(RunWriter::begin(folder, config, run));
  }

  say(options,
      fmt::format("{}, {} rounds, {}", describe(config, fleet), config.run.rounds, describe(options, pool)));
  train_on(options, run, *writer, bytes);
}

}  // namespace

void add_train_command(CLI::App& program) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command = program.add_subcommand("train", "Train one model with a fleet of clients");
  options->add_to(*command, "run", "runs/DATE-FAMILY-OPTIMIZER");
  command->callback([options] { train(*options); });
}

}  // namespace subfleet::cli
