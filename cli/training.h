#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "config_options.h"
#include "device_options.h"
#include "subfleet/fleet.h"
#include "subfleet/fleet/ranks.h"
#include "subfleet/work/opened_fleet.h"
#include "subfleet/work/training_session.h"

// What the commands that train share.
namespace subfleet::cli {

struct TrainingOptions {
  ConfigOptions config;
  std::string out, resume, init;
  DeviceOptions device;  // none given: the one that a resumed run had, or cpu
  size_t threads = 0;
  bool quiet = false;
  bool show_settings = false;

  // `what` is resumed and has the folder: "run" or "search".
  void add_to(CLI::App& command, const std::string& what, const std::string& default_folder);

  // The file of --init; none: the model's own weights.
  std::optional<std::filesystem::path> initial() const;
};

// A line for the user, unless --quiet.
void say(const TrainingOptions& options, const std::string& line);

// Throws Error if --resume comes with what it takes from the folder.
void check_resume(const TrainingOptions& options);

// --out, or a new folder "runs/DATE-KIND" that no other process has.
std::string new_folder(const TrainingOptions& options, const std::string& kind);

// The fleet that the options ask for. `before` is the provenance of what is resumed. Says so if that was
// trained in another way.
std::unique_ptr<OpenedFleet> open_fleet(const TrainingOptions& options, const Config& config, Ranks& ranks,
                                        const std::optional<Provenance>& before);

// Trains to the last round, or until Ctrl-C, and says how far it is and how it ended. The session has a
// folder. Throws Stopped.
void train_on(const TrainingOptions& options, TrainingSession& session, const Fleet& fleet);

// "emnist-cnn, gold codes, fedadam: 548 clients, 35 per round": what is trained, and with what.
std::string describe(const Config& config, const Fleet& fleet);
std::string describe(const Provenance& now);

}  // namespace subfleet::cli
