#include "subfleet/store/session.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "subfleet/base/file.h"
#include "subfleet/base/version.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"

namespace subfleet {

Provenance provenance_now(const Config& config, const Fleet& fleet, const Workers& workers) {
  return {.data = {.source = config.data.source,
                   .clients = fleet.clients(),
                   .fingerprint = fleet.data_fingerprint()},
          .initial = {},
          .sessions = {{.from_round = 0,
                        .version = std::string(version()),
                        .device = workers.device,
                        .kernels = workers.kernels ? *workers.kernels : trainer_kernels(workers.device),
                        .threads = workers.threads,
                        .ranks = workers.ranks}}};
}

Provenance::Initial initial_weights_file(const std::filesystem::path& file) {
  return {.file = file.string(), .fingerprint = Hash().add(read_file(file)).value()};
}

Provenance::Initial initial_weights_array(std::span<const float> weights) {
  return {.file = "an array of the program", .fingerprint = Hash().add_values(weights).value()};
}

std::string trainer_text(const Provenance::Session& session) {
  return fmt::format("subfleet {} on {} {}", session.version, session.device, session.kernels);
}

std::optional<std::string> other_workers(const Provenance& before, const Provenance& now) {
  if (before.sessions.empty()) return std::nullopt;
  const std::string was = trainer_text(before.sessions.back()), is = trainer_text(now.sessions.back());
  if (was == is) return std::nullopt;
  return fmt::format("trained by {} before, by {} from here: it may round differently", was, is);
}

Config going_on(Config config, const Config& saved) {
  if (config.schedules.horizon == 0) config.schedules.horizon = saved.schedules.horizon;
  return config;
}

std::string last_device(const std::optional<Provenance>& before) {
  return before && !before->sessions.empty() ? before->sessions.back().device : "cpu";
}

Config resumed_config(const Config& saved, const std::function<void(Config&)>& change) {
  Config config = saved;
  change(config);
  validate(config);
  auto name = first_difference(fixed_settings(saved), fixed_settings(config));
  if (!name && !(resolve_model(saved.model) == resolve_model(config.model))) name = "model.file";
  if (name) throw bad_request(*name, "cannot change in a run that has begun; start a new run with --out");
  return config;
}

}  // namespace subfleet
