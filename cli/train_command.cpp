#include <fmt/format.h>

#include <memory>
#include <optional>

#include "commands.h"
#include "subfleet/safetensors.h"
#include "training.h"

namespace subfleet::cli {
namespace {

void train(const TrainingOptions& options, Ranks& ranks) {
  if (!ranks.leads()) return ranks.serve(options.threads);
  check_resume(options);
  std::optional<RunWriter> writer;
  if (!options.resume.empty()) writer.emplace(RunWriter::reopen(options.resume));
  const Config config = writer ? resumed_config(options, writer->config()) : options.config.config();
  if (options.show_settings) return print_settings(config);

  std::optional<Provenance> before;
  if (writer) before = RunWriter::provenance(writer->folder());
  Workshop workshop(config, options, ranks, before);
  Run run(config, *workshop.fleet);
  uint64_t bytes = 0;
  if (writer) {
    bytes = writer->restore(run, workshop.now);
  } else {
    if (!options.init.empty())
      run.set_weights(weights_from(load_safetensors(options.init), run.model(), options.init));
    writer.emplace(RunWriter::begin(new_folder(options, config.code.family + "-" + config.server.optimizer),
                                    run, workshop.now));
  }
  say(options, fmt::format("{}, {} rounds, {}", describe(config, *workshop.fleet), config.run.rounds,
                           describe(workshop.now)));
  train_on(options, run, *writer, bytes, *workshop.fleet);
}

}  // namespace

void add_train_command(CLI::App& program, Ranks& ranks) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command = program.add_subcommand("train", "Train one model with a fleet of clients");
  options->add_to(*command, "run", "runs/DATE-FAMILY-OPTIMIZER");
  command->footer(
      "Under mpirun, the ranks share every round; the result is the same for any number of them.");
  command->callback([options, &ranks] { train(*options, ranks); });
}

}  // namespace subfleet::cli
