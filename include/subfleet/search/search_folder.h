#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "subfleet/rate_search.h"
#include "subfleet/store/folder_lock.h"
#include "subfleet/store/provenance.h"

namespace subfleet {

// The folder of a search: tune.toml (its settings), candidates/VALUE (a run folder each) and, as it ends,
// tune.json and tune.svg. The winner's run can go on in the folder itself, which is then a run folder too.
// Locked while this object lives.
class SearchFolder {
 public:
  static constexpr auto kPicture = "tune.svg";  // drawn by the program that shows the search

  // Begins a search in a new or empty folder, from the weights of a safetensors file or the model's own;
  // throws Error if it holds something already.
  static SearchFolder begin(const std::filesystem::path& folder, const Config& config,
                            const std::optional<std::filesystem::path>& initial_weights);

  // Opens the search of a folder again; throws Error if there is none.
  static SearchFolder reopen(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  Config config() const;  // as saved
  // Where a candidate's run is.
  std::filesystem::path candidate(double value) const;
  // What the search's candidates came from; empty before the first has begun.
  std::optional<Provenance> provenance() const;
  // The weights that every candidate starts from; empty if they are the model's own.
  std::optional<std::vector<float>> initial_weights(const ModelSpec& model) const;

  // Throws Error, before anything is written, if the search or a run in its folder cannot go on with these
  // settings and data.
  void check_goes_on(const Config& config, const Provenance& now) const;

  // Writes the settings that a search can change to tune.toml, and writes tune.json.
  void save(const Config& config) const;
  void save(const RateSearch& search, const Config& config) const;

  // Makes the winner's run the folder's own, for RunWriter::reopen(); does nothing if it already is.
  void promote(const RateSearch& search) const;

 private:
  explicit SearchFolder(std::filesystem::path path);
  std::vector<std::filesystem::path> candidates() const;  // the ones that have begun

  std::filesystem::path path_;
  FolderLock lock_;
};

}  // namespace subfleet
