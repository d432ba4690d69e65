#include "subfleet/report/reported_run.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/toml_text.h"
#include "store/saved_config_table.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/store/saved_config.h"

namespace subfleet {
namespace {

void read_settings(ReportedRun& run) {
  const std::filesystem::path path = run.folder / "config.toml";
  const toml::table table = parse_toml(run.config, path.string());
  const auto text = [&](const char* key) { return one_line(table.at_path(key).value_or(std::string())); };
  for_each_value(table, [&](const std::string& name, const toml::node& value) {
    run.settings[one_line(name)] = value_text(value);
  });
  if (!run.config.empty()) {
    try {
      run.parsed_config = read_saved_config(table, path);
    } catch (const Error&) {  // of another version, whose settings can be shown all the same
    }
  }
  run.model = text("model.name");
  run.family = text("code.family");
  run.optimizer = text("server.optimizer");
  if (run.family != "none") run.keep = table.at_path("code.keep").value<double>();  // none keeps all
  run.server_lr = table.at_path("server.lr").value<double>();
  run.clients = table.at_path("round.clients").value<int64_t>();
  if (const auto seed = run.settings.find("run.seed"); seed != run.settings.end()) {
    const std::string& digits = seed->second;  // a text, where it is larger than TOML's integers
    uint64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc())
      run.seed = value;
  }
}

void read_provenance(ReportedRun& run, const Provenance& provenance) {
  run.settings["data (hash)"] = fmt::format("{:08x}", provenance.data.fingerprint >> 32);
  run.settings["--init"] = provenance.initial ? one_line(provenance.initial->file) : "-";
  if (!provenance.sessions.empty()) run.settings["--device"] = one_line(provenance.sessions.back().device);
}

}  // namespace

ReportedRun reported_run(RunSummary summary) {
  ReportedRun run;
  static_cast<RunSummary&>(run) = std::move(summary);
  read_settings(run);
  if (const auto model = run.folder / kModelFile; std::filesystem::exists(model)) {
    run.settings["model.file"] =
        fmt::format("{} {:08x}", run.model, Hash().add(read_file(model, kMostTextBytes)).value() >> 32);
  }
  if (run.provenance) read_provenance(run, *run.provenance);
  return run;
}

std::vector<ReportedRun> reported_runs(std::span<const std::filesystem::path> folders) {
  std::vector<ReportedRun> runs;
  for (RunSummary& run : load_runs(folders)) runs.push_back(reported_run(std::move(run)));
  return runs;
}

}  // namespace subfleet
