#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings.h"
#include "config_values.h"
#include "fleet.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/page/page.h"
#include "subfleet/rate_search.h"
#include "subfleet/report/sweep_report.h"
#include "subfleet/search/search_report.h"
#include "subfleet/work/experiment_library.h"
#include "subfleet/work/reproduction.h"
#include "subfleet/work/search_session.h"
#include "subfleet/work/sweep_session.h"
#include "threads.h"

namespace subfleet::python {
namespace {

using Path = std::filesystem::path;
using Stop = std::function<bool()>;

// Lines for people, by a Python function; None: nobody wants them. Called without the GIL.
class Lines {
 public:
  explicit Lines(nb::object say) : say_(std::move(say)) {}
  void operator()(const std::string& line) const {
    const WithGil acquire;
    if (!say_.is_none()) say_(line);
  }

 private:
  nb::object say_;
};

class SearchLines final : public SearchObserver {
 public:
  SearchLines(std::string parameter, const Lines& say) : parameter_(std::move(parameter)), say_(say) {}

  void on_step(const RateSearch& search) override {
    std::string values;
    for (const size_t index : search.running())
      values += fmt::format("{}{:.4g}", values.empty() ? "" : ", ", search.candidates()[index].value);
    say_(fmt::format("step {}: {} = {}, {} at most", search.steps().size() - 1, parameter_, values,
                     counted(search.round_limit(), "round")));
  }
  void on_round(const RateSearch& search, std::span<const size_t> running, double) override {
    for (const size_t index : running) {
      const Candidate& candidate = search.candidates()[index];
      if (candidate.fate == Fate::kRunning) continue;
      say_(fmt::format("  {} = {:.4g}: {} after {}, at {}", parameter_, candidate.value,
                       fate_name(candidate.fate), counted(candidate.round_count(), "round"),
                       human_percent(candidate.accuracy)));
    }
  }

 private:
  std::string parameter_;
  const Lines& say_;
};

// Groups of runs, searches and experiments, a line each.
class GroupLines final : public ReproductionObserver {
 public:
  explicit GroupLines(const Lines& say) : say_(say) {}

  void on_start(const GroupStart& group) override { title_ = group.title; }
  void on_round(const RoundLine& line) override {
    if (line.test_accuracy) accuracy_ = line.test_accuracy;
  }
  void on_note(const std::string& line) override { say_(line); }
  void on_end() override {
    say_(accuracy_ ? fmt::format("{}: {}", title_, human_percent(*accuracy_)) : title_);
    accuracy_.reset();
  }
  void on_searched(const Searched& searched) override {
    say_(fmt::format("{}: {}", searched.title, searched.found));
  }
  void on_ensemble(const std::string& title, const std::optional<Evaluation>& test) override {
    say_(fmt::format("{}: {}", title, test ? human_percent(test->accuracy()) : "a member diverged"));
  }
  void on_experiment(const Experiment& experiment, const ExperimentResult&) override {
    say_(experiment.title);
  }

 private:
  const Lines& say_;
  std::string title_;
  std::optional<double> accuracy_;
};

// Does work(stop) without the GIL; Ctrl-C stops it where it can go on, and is raised.
template <typename Work>
auto stoppable(const Work& work) {
  const SignalWatch watch;
  auto result = [&] {
    const WithoutGil release;
    return work([&] { return watch.flag().load(); });
  }();
  if (watch.handler_raised()) throw nb::python_error();
  return result;
}

RateSearch tune(const Config& config, const Path& out, std::shared_ptr<BoundFleet> fleet,
                const std::string& device, size_t threads, const std::optional<Path>& init, bool resume,
                bool train, nb::object say) {
  const Lines lines(std::move(say));
  return stoppable([&](const Stop& stop) {
    const Path folder = std::filesystem::absolute(out);
    std::optional<SearchFolder> saved;
    if (resume) saved.emplace(SearchFolder::reopen(folder));
    Config wanted = saved ? saved->config() : config;
    validate(wanted);
    if (!fleet) fleet = std::make_shared<BoundLocalFleet>(wanted, device, threads);
    if (fleet->is_of_arrays()) wanted.data = *fleet->data;
    const std::lock_guard lock(fleet->in_use);
    SearchSession session(wanted, *fleet->fleet, provenance_now(wanted, *fleet->fleet, fleet->workers), init);
    saved ? session.resume(std::move(*saved)) : session.begin(folder);
    SearchLines observer(session.config().tune.parameter, lines);
    session.run(observer, stop);
    const RateSearch search = session.search();
    if (search.outcome() != RateSearch::Outcome::kSearching)
      lines(explain_outcome(search, session.config().tune.parameter));
    if (train && search.outcome() == RateSearch::Outcome::kFound && !stop())
      session.go_on_with_winner()->train({}, stop);
    return search;
  });
}

bool sweep(const Path& file, const Path& out, const nb::dict& settings, const std::vector<std::string>& only,
           size_t seeds, const std::string& device, size_t threads, size_t together, nb::object say) {
  const Lines lines(std::move(say));
  SweepPlan plan = read_sweep(file, [&](Config& config) { apply(config, settings); });
  return stoppable([&](const Stop& stop) {
    const Path folder = std::filesystem::absolute(out);
    keep_horizons(folder, plan);
    if (seeds > plan.seeds.size())
      throw bad_request("seeds", fmt::format("is more than the {} of {}", plan.seeds.size(), file.string()));
    const std::vector<SweepTrial> trials = choose_trials(plan, only, seeds);
    if (trials.empty()) throw bad_request("only", "is part of no run's name");
    check_sweep_folder(folder, plan);
    SweepSession session(plan, folder, {.device = device, .threads = threads, .together = together});
    if (session.prepare(trials) > 0) {
      GroupLines observer(lines);
      if (!session.train(observer, stop)) return false;
    }
    session.write_results();
    return true;
  });
}

bool reproduce(const std::vector<std::string>& what, const Path& out, const Path& experiments,
               const nb::dict& settings, size_t seeds, const std::string& device, size_t threads,
               size_t together, nb::object say) {
  const Lines lines(std::move(say));
  ExperimentLibrary library(experiments, [&](Config& config) { apply(config, settings); });
  std::vector<Experiment> chosen = library.choose(what);
  for (Experiment& experiment : chosen) {
    for (SweepPlan& plan : experiment.plans) {
      if (seeds != 0 && plan.seeds.size() > seeds) plan.seeds.resize(seeds);
    }
  }
  return stoppable([&](const Stop& stop) {
    Reproduction work(
        std::move(chosen), library.names(),
        {.out = std::filesystem::absolute(out), .device = device, .threads = threads, .together = together});
    GroupLines observer(lines);
    return work.make_all(observer, stop);
  });
}

std::string report(const std::vector<Path>& folders, const Path& out, std::optional<double> accuracy) {
  if (folders.empty()) throw bad_request("folders", "there is none; name run folders");
  const WithoutGil release;
  const std::vector<ReportedRun> runs = reported_runs(folders);
  const Comparison comparison = compare_runs(runs, accuracy);
  write_file(out, report_page(runs, comparison));
  return report_json(runs, comparison);
}

}  // namespace

void bind_work(nb::module_& m) {
  m.def("tune", &tune, nb::arg("config"), nb::arg("out"), nb::arg("fleet").none() = nb::none(),
        nb::arg("device") = "cpu", nb::arg("threads") = 0, nb::arg("init").none() = nb::none(),
        nb::arg("resume") = false, nb::arg("train") = false, nb::arg("say").none() = nb::none());
  m.def("sweep", &sweep, nb::arg("file"), nb::arg("out"), nb::arg("settings"), nb::arg("only"),
        nb::arg("seeds"), nb::arg("device"), nb::arg("threads"), nb::arg("together"),
        nb::arg("say").none() = nb::none());
  m.def("reproduce", &reproduce, nb::arg("what"), nb::arg("out"), nb::arg("experiments"), nb::arg("settings"),
        nb::arg("seeds"), nb::arg("device"), nb::arg("threads"), nb::arg("together"),
        nb::arg("say").none() = nb::none());
  m.def("report", &report, nb::arg("folders"), nb::arg("out"), nb::arg("accuracy").none() = nb::none());
}

}  // namespace subfleet::python
