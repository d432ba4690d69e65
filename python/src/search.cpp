#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>

#include "bindings.h"
#include "subfleet/error.h"
#include "subfleet/rate_search.h"

namespace subfleet::python {
namespace {

using Round = std::tuple<double, double>;

void record(RateSearch& search, const std::vector<Round>& rounds) {
  if (rounds.size() != search.running().size()) {
    throw bad_request("search", fmt::format("got {} results for {} running candidates", rounds.size(),
                                            search.running().size()));
  }
  std::vector<CandidateRound> results;
  for (const auto& [accuracy, loss] : rounds) results.push_back({.accuracy = accuracy, .loss = loss});
  search.record(results);
}

void bind_candidates(nb::module_& m) {
  nb::class_<Candidate>(m, "Candidate", "One value that a search tries.")
      .def_ro("value", &Candidate::value)
      .def_ro("step", &Candidate::step, "In which it was tried.")
      .def_prop_ro("fate", [](const Candidate& c) { return std::string(fate_name(c.fate)); })
      .def_prop_ro("rounds", &Candidate::round_count)
      .def_ro("accuracy", &Candidate::accuracy, "Mean over the last rounds of the window.")
      .def("__repr__", [](const Candidate& c) {
        return fmt::format("Candidate({:.4g}: {} after {} rounds)", c.value, fate_name(c.fate),
                           c.round_count());
      });
}

void bind_plan(nb::module_& m) {
  nb::class_<SearchPlan>(m, "SearchPlan", "What a search looks for, and where.")
      .def(
          "__init__",
          [](SearchPlan* self, double start, double target, uint32_t classes, double delta, uint32_t steps,
             uint32_t outward, uint32_t window, uint32_t max_rounds, double low, double high, bool whole) {
            if (classes < 2) throw bad_request("classes", "must be at least 2");
            if (!(start > 0 && start >= low && start <= high))
              throw bad_request("start", fmt::format("must be above 0 and from {} to {}", low, high));
            if (!(target > 0 && target <= 1)) throw bad_request("target", "must be above 0 and at most 1");
            if (!(delta > 0)) throw bad_request("delta", "must be above 0");
            if (window < 1 || window > max_rounds)
              throw bad_request("window", "must be 1 round or more and at most max_rounds");
            new (self) SearchPlan{.start = start,
                                  .delta = delta,
                                  .steps = steps,
                                  .outward = outward,
                                  .target = target,
                                  .window = window,
                                  .max_rounds = max_rounds,
                                  .guess_loss = std::log(static_cast<double>(classes)),
                                  .low = low,
                                  .high = high,
                                  .whole = whole};
          },
          nb::arg("start"), nb::arg("target"), nb::arg("classes"), nb::kw_only(), nb::arg("delta") = 1.0,
          nb::arg("steps") = 3, nb::arg("outward") = 4, nb::arg("window") = 5, nb::arg("max_rounds") = 500,
          nb::arg("low") = 1e-9, nb::arg("high") = 1e6, nb::arg("whole") = false,
          "From `start`, in log10, for the value that reaches the training accuracy `target`, as the mean of "
          "`window` rounds, in the fewest rounds. The first candidates are `delta` apart, which is halved "
          "`steps` times.")
      .def_static("of", &make_search_plan, nb::arg("config"), nb::arg("classes"),
                  "The plan of the settings tune.*, for data with `classes` classes.")
      .def_ro("start", &SearchPlan::start)
      .def_ro("delta", &SearchPlan::delta)
      .def_ro("steps", &SearchPlan::steps)
      .def_ro("outward", &SearchPlan::outward)
      .def_ro("target", &SearchPlan::target)
      .def_ro("window", &SearchPlan::window)
      .def_ro("max_rounds", &SearchPlan::max_rounds)
      .def("__repr__", [](const SearchPlan& plan) {
        return fmt::format("SearchPlan(start={:.4g}, target={:.4g}, delta={:.4g}, steps={})", plan.start,
                           plan.target, plan.delta, plan.steps);
      });
}

}  // namespace

void bind_search(nb::module_& m) {
  bind_candidates(m);
  bind_plan(m);
  nb::class_<RateSearch>(
      m, "RateSearch",
      "The paper's search (Verardo et al., Algorithm 1) without the training: the caller "
      "asks running() which candidates need a round, trains them and passes the results to record().")
      .def(nb::init<const SearchPlan&>(), nb::arg("plan"))
      .def("__repr__",
           [](const RateSearch& search) {
             return fmt::format("RateSearch({} candidates, {} running)", search.candidates().size(),
                                search.running().size());
           })
      .def_prop_ro("candidates", &RateSearch::candidates, nb::rv_policy::copy)
      .def("running", &RateSearch::running,
           "The indices of the candidates that take part in the next round; empty once the search is over.")
      .def("record", &record, nb::arg("rounds"),
           "(accuracy, loss) of one round of each of running(), in that order; a value that is not finite "
           "means diverged.")
      .def_prop_ro("best", &RateSearch::best, "The index of the best candidate so far, or None.")
      .def_prop_ro(
          "found", [](const RateSearch& search) { return search.outcome() == RateSearch::Outcome::kFound; },
          "Whether the search is over and its best candidate reached the target.")
      .def_prop_ro(
          "outcome",
          [](const RateSearch& search) {
            switch (search.outcome()) {
              case RateSearch::Outcome::kSearching:
                return "searching";
              case RateSearch::Outcome::kFound:
                return "found";
              case RateSearch::Outcome::kNotReached:
                return "not reached";
              case RateSearch::Outcome::kAllLost:
                return "all lost";
            }
            return "";
          },
          "\"searching\", \"found\", \"not reached\" or \"all lost\".")
      .def_prop_ro(
          "cost", [](const RateSearch& search) { return search.cost().rounds; },
          "Rounds beyond the best candidate's own.");
}

}  // namespace subfleet::python
