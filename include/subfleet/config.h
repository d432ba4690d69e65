#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/code_options.h"
#include "subfleet/codec.h"
#include "subfleet/data.h"
#include "subfleet/model.h"
#include "subfleet/round.h"
#include "subfleet/schedule.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// round.*: how many clients take part, and what each does. The last two are about clients on devices of their
// own; those of this process always answer.
struct RoundOptions : LocalTraining {
  uint32_t clients = 35;
  double deadline = 600;     // seconds; 0: none
  double min_replies = 0.5;  // of the clients; with fewer, the missing ones are asked again
  bool operator==(const RoundOptions&) const = default;
};

// What becomes of the learning rates over the rounds.
struct Schedules {
  ScheduleOptions server, clients;
  uint32_t horizon = 0;  // the round in which they come to their final share; 0: run.rounds at the beginning
};

struct RunOptions {
  uint32_t rounds = 500;
  uint64_t seed = 0;
  uint32_t first_draw = 0;  // the draws of clients, masks and orders that are passed over
  uint32_t eval_every = 10;
  uint64_t eval_samples = 10'000;
  std::string metrics = {};  // names of the program's own, between commas
  uint32_t checkpoint_every = 10;
};

// An accuracy, said outright or as a multiple of what guessing gets.
struct TargetAccuracy {
  double value = 20;
  bool times_chance = true;

  double among(uint32_t classes) const { return times_chance ? value / classes : value; }
};

// The search for the best value of a setting, in log10; see rate_search.h.
struct TuneOptions {
  std::string method = "paper";  // "paper": the fastest start; "halving": the best end, see HalvingSearch
  std::string parameter = "server.lr";
  bool average = true;   // halving: a run whose rate does not fall gets a server.average
  double start = 0;      // 0: the value that the setting has
  double delta = 1;      // between the first candidates
  uint32_t steps = 3;    // refinements; the paper's n_a
  uint32_t outward = 4;  // most moves past an edge; 0 is the paper's algorithm
  TargetAccuracy target;
  uint32_t window = 5;            // rounds whose mean accuracy has to reach the target; the paper's q
  uint32_t max_rounds = 0;        // of a candidate; 0: run.rounds
  std::string ties = "accurate";  // among equally fast candidates: the more "accurate", or the "first" tried
};

// One federated training, as data: the sections and keys that users write. Defaults are the paper's.
struct Config {
  ModelOptions model;
  DataOptions data;
  CodeOptions code;
  WireOptions wire;
  RoundOptions round;
  OptimizerOptions server;
  Schedules schedules;
  RunOptions run;
  TuneOptions tune;
};

// A setting as users see it.
struct Setting {
  std::string name;   // "round.clients"
  std::string value;  // as TOML
  std::string help;
};
std::vector<Setting> settings(const Config& config);

// Changes one setting; `value` is TOML, or a bare word for a string. Throws Error for an unknown name (naming
// the nearest), a wrong type or a value out of range.
void set(Config& config, std::string_view name, std::string_view value);

// A setting that is a number and decides how a model learns: what it is and what it can be.
struct NumericSetting {
  double value = 0;
  double low = 0, high = 0;
  bool whole = false;  // no fractions
};
// Throws Error for an unknown name or a setting of another kind.
NumericSetting numeric_setting(const Config& config, std::string_view name);

// Reads a TOML text over the defaults; `source` names it in errors.
Config parse_config(std::string_view text, std::string_view source);
std::string to_toml(const Config& config);

// The settings, by name and as TOML, that a run cannot change once it has begun: all but how long it runs,
// how often it is measured and saved, and where its data lie.
using FixedSettings = std::map<std::string, std::string>;
FixedSettings fixed_settings(const Config& config);

// Adds the settings that are not there because they were unknown when these were saved.
void add_later_settings(FixedSettings& saved);

// The first setting in which the two differ; nothing if they agree.
std::optional<std::string> first_difference(const FixedSettings& before, const FixedSettings& after);

// The rates of a round, counted from 1, as the schedules make them.
double server_rate(const Config& config, uint32_t round);
float client_rate(const Config& config, uint32_t round);

// Gives server.horizon its value if it is 0 and a schedule needs it: from here on more rounds do not change
// it.
void resolve_horizon(Config& config);

// Checks the settings against each other, for example that every family can mask every droppable layer, and
// resolves server.lr = 0. Throws Error.
void validate(Config& config);

}  // namespace subfleet
