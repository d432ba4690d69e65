#include "subfleet/store/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/format.h"
#include "base/hash.h"
#include "base/toml_text.h"
#include "store/saved_config_table.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/store/provenance.h"
#include "subfleet/store/saved_config.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

void read_settings(RunSummary& run, const fs::path& path) {
  const toml::table table = parse_toml(run.config, path.string());
  const auto text = [&](const char* key) { return one_line(table.at_path(key).value_or(std::string())); };
  for_each_value(table, [&](const std::string& name, const toml::node& value) {
    run.settings[one_line(name)] = value_text(value);
  });
  try {
    run.parsed_config = read_saved_config(table, path);
  } catch (const Error&) {  // of another version, whose settings can be shown all the same
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

// The folder with no "." or trailing slash, and links followed, so that two spellings of it are equal.
fs::path true_path(const fs::path& folder) {
  std::error_code code;
  fs::path path = fs::canonical(folder, code);
  if (code || !fs::is_directory(path, code)) {
    throw bad_request(folder.string(),
                      "there is no such folder; give the folder that 'subfleet train --out' made");
  }
  return path;
}

// The last `parts` parts of a path.
std::string path_end(const fs::path& path, size_t parts) {
  fs::path end;
  fs::path rest = path;
  for (size_t i = 0; i < parts && rest.has_relative_path(); ++i) {
    end = end.empty() ? rest.filename() : rest.filename() / end;
    rest = rest.parent_path();
  }
  return one_line(end.string());
}

}  // namespace

uint64_t parse_search_bytes(std::string_view text, std::string_view name) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  check_result_format(json, name);
  const nlohmann::json::json_pointer bytes("/cost/bytes");
  if (!json.is_object() || !json.contains(bytes) || !json[bytes].is_number_unsigned()) {
    throw bad_request(name, "does not say what the search cost; 'subfleet tune --resume' writes it");
  }
  const auto count = json[bytes].get<uint64_t>();
  if (count > kMostBytes) throw bad_request(name, "a search that exchanged more bytes than any does");
  return count;
}

RunSummary load_run(const fs::path& folder) {
  const fs::path path = true_path(folder);
  const fs::path log = path / "rounds.jsonl", config = path / "config.toml";
  const bool has_log = fs::exists(log), has_config = fs::exists(config);
  if (!has_log && (fs::exists(path / "tune.toml") || fs::exists(path / "tune.json"))) {
    throw bad_request(folder.string(), fmt::format("a search whose best candidate has not been trained on; "
                                                   "'subfleet tune --resume {} --train' does it",
                                                   folder.string()));
  }
  if (!has_log && !has_config) {
    throw bad_request(folder.string(), "not a run folder: it holds neither rounds.jsonl nor config.toml");
  }
  RunSummary run;
  run.name = path_end(path, 1);
  run.folder = path;
  if (const fs::path from = path / "provenance.json"; fs::exists(from))  // first: it names the format
    run.provenance = parse_provenance(read_file(from, kMostTextBytes), from.string());
  if (has_log) run.rounds = read_round_log(log);
  if (has_config) {
    run.config = read_file(config, kMostTextBytes);
    read_settings(run, config);
  }
  if (const fs::path model = path / kModelFile; fs::exists(model)) {
    run.settings["model.file"] =
        fmt::format("{} {:08x}", run.model, Hash().add(read_file(model, kMostTextBytes)).value() >> 32);
  }
  if (run.provenance) {
    const Provenance& provenance = *run.provenance;
    run.settings["data (hash)"] = fmt::format("{:08x}", provenance.data.fingerprint >> 32);
    run.settings["--init"] = provenance.initial ? one_line(provenance.initial->file) : "-";
    if (!provenance.sessions.empty()) run.settings["--device"] = one_line(provenance.sessions.back().device);
  }
  if (const fs::path search = path / "tune.json"; fs::exists(search))
    run.search_bytes = parse_search_bytes(read_file(search), search.string());
  return run;
}

std::vector<RunSummary> load_runs(std::span<const fs::path> folders) {
  std::vector<RunSummary> runs;
  std::vector<fs::path> paths;
  for (const auto& folder : folders) {
    const fs::path path = true_path(folder);
    if (std::ranges::find(paths, path) != paths.end()) {
      throw bad_request(folder.string(), "the folder is given twice; give every run once");
    }
    paths.push_back(path);
    runs.push_back(load_run(folder));
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto shared = [&](size_t parts) {
      for (size_t other = 0; other < paths.size(); ++other) {
        if (other != i && path_end(paths[other], parts) == path_end(paths[i], parts)) return true;
      }
      return false;
    };
    const auto depth = static_cast<size_t>(std::ranges::distance(paths[i]));
    size_t parts = 1;
    while (parts < depth && shared(parts)) ++parts;
    runs[i].name = path_end(paths[i], parts);
  }
  return runs;
}

}  // namespace subfleet
