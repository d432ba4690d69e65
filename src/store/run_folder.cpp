#include "subfleet/store/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/format.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/store/provenance.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

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
  if (count > kMostBytes)
    throw bad_request(name, "claims that its search exchanged more bytes than any search can");
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
  if (has_config) run.config = read_file(config, kMostTextBytes);
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
