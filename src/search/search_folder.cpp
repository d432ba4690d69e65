#include "subfleet/search/search_folder.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/search/search_report.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/saved_config.h"

namespace subfleet {
namespace {

constexpr auto kConfig = "tune.toml";
constexpr auto kResult = "tune.json";
constexpr auto kInitial = "initial.safetensors";
constexpr auto kCandidates = "candidates";
constexpr std::array<std::string_view, 5> kFiles{kConfig, kModelFile, kResult, SearchFolder::kPicture,
                                                 kInitial};

}  // namespace

SearchFolder::SearchFolder(std::filesystem::path path) : path_(std::move(path)), lock_(path_) {
  remove_half_written(path_, kFiles);
}

SearchFolder SearchFolder::begin(const std::filesystem::path& folder, const Config& config,
                                 const std::optional<std::filesystem::path>& initial_weights) {
  if (std::filesystem::exists(folder / kConfig)) {
    throw bad_request(folder.string(),
                      fmt::format("holds a search already; go on with --resume {}, or choose another folder",
                                  folder.string()));
  }
  check_empty(folder, [](const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == kInitial || name == kModelFile || is_half_written(name, kFiles);
  });
  make_folder(folder);
  SearchFolder search(folder);
  if (initial_weights) write_file(folder / kInitial, read_file(*initial_weights));
  search.save(config);  // last: from here on the folder can be resumed
  return search;
}

SearchFolder SearchFolder::reopen(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kConfig)) {
    throw bad_request(folder.string(), fmt::format("holds no search to resume (no {})", kConfig));
  }
  return SearchFolder(folder);
}

Config SearchFolder::config() const { return load_config(path_ / kConfig); }

std::filesystem::path SearchFolder::candidate(double value) const {
  return path_ / kCandidates / fmt::format("{}", value);
}

std::vector<std::filesystem::path> SearchFolder::candidates() const {
  std::vector<std::filesystem::path> begun;
  if (!std::filesystem::exists(path_ / kCandidates)) return begun;
  for (const auto& entry : std::filesystem::directory_iterator(path_ / kCandidates)) {
    if (RunWriter::has_begun(entry.path())) begun.push_back(entry.path());
  }
  return begun;
}

std::optional<Provenance> SearchFolder::provenance() const {
  const auto begun = candidates();
  return begun.empty() ? std::nullopt : std::optional(RunWriter::provenance(begun.front()));
}

void SearchFolder::check_goes_on(const Config& config, const Provenance& now) const {
  if (const auto before = provenance()) go_on(*before, now, 0, path_.string());
  RunWriter::check_rounds(path_, config.run.rounds);
  for (const auto& candidate : candidates()) RunWriter::check_rounds(candidate, config.run.rounds);
}

std::optional<std::vector<float>> SearchFolder::initial_weights(const ModelSpec& model) const {
  const std::filesystem::path file = path_ / kInitial;
  if (!std::filesystem::exists(file)) return std::nullopt;
  return weights_from(load_safetensors(file), model, file.string());
}

void SearchFolder::save(const Config& config) const { save_config(path_ / kConfig, config); }

void SearchFolder::save(const RateSearch& search, const Config& config) const {
  write_file(path_ / kResult, search_json(search, config));
}

void SearchFolder::promote(const RateSearch& search) const {
  if (RunWriter::can_go_on(path_)) return;
  RunWriter::move(candidate(search.candidates()[*search.best()].value), path_);
}

}  // namespace subfleet
