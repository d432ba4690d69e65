#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "commands.h"
#include "help.h"
#include "subfleet/base/text.h"
#include "subfleet/store/session.h"
#include "training.h"

namespace subfleet::cli {
namespace {

void train(const TrainingOptions& options, Ranks& ranks) {
  if (!ranks.leads()) return ranks.serve(options.threads);
  check_resume(options);
  std::optional<RunWriter> writer;
  if (!options.resume.empty()) writer.emplace(RunWriter::reopen(options.resume));
  const Config config =
      writer ? resumed_config(writer->config(), options.config.changes()) : options.config.config();
  if (options.show_settings) return print_settings(config);

  std::optional<Provenance> before;
  if (writer) before = RunWriter::provenance(writer->folder());
  const auto opened = open_fleet(options, config, ranks, before);
  Fleet& fleet = *opened->fleet;
  std::optional<TrainingSession> session;
  if (writer) {
    session.emplace(config, fleet, opened->now, std::move(*writer));
  } else {
    session.emplace(config, fleet, opened->now, options.initial());
    session->write_to(new_folder(options, config.code.family + "-" + config.server.optimizer));
  }
  say(options, fmt::format("{}, {}, {}", describe(config, fleet), counted(config.run.rounds, "round"),
                           describe(opened->now)));
  train_on(options, *session, fleet);
}

}  // namespace

void add_train_command(CLI::App& program, Ranks& ranks) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command = program.add_subcommand("train", "Train one model with a fleet of clients");
  options->add_to(*command, "run", "runs/DATE-FAMILY-OPTIMIZER");
  command->footer(
      footer("Under mpirun, the ranks share every round; the result is the same for any number of them.",
             {"subfleet train --set code.family=gold --set run.rounds=200",
              "subfleet train settings.toml --out runs/first",
              "subfleet train --resume runs/first --set run.rounds=500",
              "mpirun -n 4 subfleet train settings.toml"}));
  command->callback([options, &ranks] { train(*options, ranks); });
}

}  // namespace subfleet::cli
