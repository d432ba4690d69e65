#include "subfleet/work/search_session.h"

#include <utility>
#include <vector>

#include "subfleet/base/file.h"
#include "subfleet/base/stopwatch.h"
#include "subfleet/charts/chart.h"
#include "subfleet/charts/search_chart.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/search/candidate_runs.h"
#include "subfleet/store/session.h"

namespace subfleet {
namespace {

std::unique_ptr<RateSearch> checked_search(const Config& config, const Fleet& fleet) {
  check_fits(config, resolve_model(config.model), fleet.clients(), fleet.input(), fleet.classes());
  return make_search(make_search_plan(config, fleet.classes()));
}

FixedSettings tune_settings(const Config& config) {
  FixedSettings all;
  for (const Setting& setting : settings(config)) {
    if (setting.name.starts_with("tune.")) all.emplace(setting.name, setting.value);
  }
  return all;
}

}  // namespace

Config resumed_search(const Config& saved, const std::function<void(Config&)>& change) {
  Config config = resumed_config(saved, change);
  if (const auto name = first_difference(tune_settings(saved), tune_settings(config)))
    throw bad_request(*name, "cannot change in a search that has begun; start a new one with --out");
  return config;
}

SearchSession::SearchSession(Config config, Fleet& fleet, Provenance now,
                             std::optional<std::filesystem::path> initial)
    : config_(std::move(config)),
      fleet_(fleet),
      now_(std::move(now)),
      initial_(std::move(initial)),
      search_(checked_search(config_, fleet)) {
  resolve_tune(config_);
  if (!initial_) return;
  weights_from(load_safetensors(*initial_), resolve_model(config_.model), initial_->string());  // throws
  now_.initial = initial_weights_file(*initial_);
}

void SearchSession::begin(const std::filesystem::path& folder) {
  folder_.emplace(SearchFolder::begin(folder, config_, initial_));
}

void SearchSession::resume(SearchFolder folder) {
  folder.check_goes_on(config_, now_);
  folder_.emplace(std::move(folder));
}

bool SearchSession::run(SearchObserver& observer, const std::function<bool()>& stop) {
  const bool over = search_on(observer, stop);
  folder_->save(config_);  // only now: what was asked for has proved to go with what is there
  folder_->save(*search_, config_);
  write_file(path() / SearchFolder::kPicture, svg_file(search_chart(*search_, config_.tune.parameter)));
  return over;
}

bool SearchSession::search_on(SearchObserver& observer, const std::function<bool()>& stop) {
  CandidateRuns runs(config_, *folder_, fleet_, now_);
  observer.on_step(*search_);
  size_t steps = search_->steps().size();
  while (!search_->running().empty()) {
    if (stop()) {
      runs.checkpoint();
      return false;
    }
    const Stopwatch stopwatch;
    const std::vector<size_t> running = search_->running();
    search_->record(runs.next_round(*search_));
    runs.settle(*search_);
    observer.on_round(*search_, running, stopwatch.seconds());
    if (search_->steps().size() > std::exchange(steps, search_->steps().size())) observer.on_step(*search_);
  }
  return true;
}

std::unique_ptr<TrainingSession> SearchSession::go_on_with_winner() {
  folder_->promote(*search_);
  const std::filesystem::path folder = path();
  folder_.reset();  // whose lock the run takes over
  return std::make_unique<TrainingSession>(candidate_config(config_, *search_, *search_->best()), fleet_,
                                           now_, RunWriter::reopen(folder));
}

}  // namespace subfleet
