#include "subfleet/search/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "search/search_value.h"
#include "subfleet/base/text.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;
using Outcome = RateSearch::Outcome;

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFound:
      return "found";
    case Outcome::kNotReached:
      return "not reached";
    case Outcome::kAllLost:
      return "all lost";
    case Outcome::kSearching:
      break;
  }
  return "unfinished";
}

std::string_view kind_name(SearchStep::Kind kind) {
  switch (kind) {
    case SearchStep::Kind::kOutward:
      return "outward";
    case SearchStep::Kind::kRefine:
      return "refine";
    case SearchStep::Kind::kLast:
      return "last";
    case SearchStep::Kind::kFirst:
      break;
  }
  return "first";
}

// "3 x 24 + 2 x 21 + 2 x 21 - 21"
std::string formula_text(const RateSearch& search) {
  std::string text;
  for (const SearchStep& step : search.steps())
    text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", step.candidates, step.rounds);
  if (search.outcome() == Outcome::kFound)
    text += fmt::format(" - {}", search.candidates()[*search.best()].round_count());
  return text;
}

Json cost_json(const RateSearch& search) {
  const SearchCost cost = search.cost();
  Json json = {{"rounds", cost.rounds}, {"bytes", cost.bytes}};
  if (search.outcome() == Outcome::kSearching) return json;
  json["formula"] = formula_text(search);
  json["formula_rounds"] = cost.formula;
  json["spared_rounds"] = cost.spared;
  return json;
}

Json candidate_json(const Candidate& candidate) {
  Json curve = Json::array(), losses = Json::array();
  for (const CandidateRound& round : candidate.rounds) {
    curve.push_back(finite_or_null(round.accuracy));
    losses.push_back(finite_or_null(round.loss));
  }
  return {{"value", candidate.value},
          {"log10", std::log10(candidate.value)},
          {"step", candidate.step},
          {"fate", fate_name(candidate.fate)},
          {"rounds", candidate.rounds.size()},
          {"bytes", candidate.bytes()},
          {"accuracy", finite_or_null(candidate.accuracy)},
          {"curve", curve},
          {"loss", losses}};
}

}  // namespace

std::string explain_outcome(const RateSearch& search, const std::string& parameter) {
  const std::string target = human_percent(search.plan().target);
  if (search.outcome() == Outcome::kAllLost) {
    return fmt::format("every candidate for {} is lost; lower tune.start or round.client_lr", parameter);
  }
  if (!search.best()) return "no step of the search is done yet";
  const Candidate& best = search.candidates()[*search.best()];
  const auto [lowest, highest] = std::ranges::minmax_element(search.candidates(), {}, &Candidate::offset);
  const bool at_edge = best.offset == lowest->offset || best.offset == highest->offset;
  const std::string_view edge = at_edge
                                    ? "; it is the outermost tried, so one further out may be better: move "
                                      "tune.start or raise tune.outward"
                                    : "";
  if (search.plan().horizon > 0) {
    return fmt::format("{} = {} has come furthest in {} rounds; they are the first of its run of {}{}",
                       parameter, best.value, best.round_count(), search.plan().horizon, edge);
  }
  if (best.fate != Fate::kReached) {
    return fmt::format(
        "no candidate for {} reached {} within {} rounds; the best, {}, came to {}: lower "
        "tune.target, raise tune.max_rounds or move tune.start",
        parameter, target, search.plan().max_rounds, best.value, human_percent(best.accuracy));
  }
  return fmt::format("{} = {} reaches {} in {} rounds{}", parameter, best.value, target, best.round_count(),
                     edge);
}

std::string candidate_table(const RateSearch& search, const std::string& parameter) {
  const bool halving = search.plan().horizon > 0;
  std::vector<std::vector<std::string>> lines{
      {"step", parameter, "log10", "rounds", halving ? "loss" : "accuracy", "fate"}};
  for (size_t i = 0; i < search.candidates().size(); ++i) {
    const Candidate& candidate = search.candidates()[i];
    lines.push_back({fmt::format("{}", candidate.step), fmt::format("{}", candidate.value),
                     fmt::format("{:.3f}", std::log10(candidate.value)),
                     fmt::format("{}", candidate.round_count()),
                     halving ? fmt::format("{:.4f}", candidate.loss) : human_percent(candidate.accuracy),
                     fmt::format("{}{}", fate_name(candidate.fate), i == search.best() ? ", best" : "")});
  }
  return align_table(lines, "rrrrrl");
}

std::string explain_cost(const RateSearch& search) {
  const SearchCost cost = search.cost();
  std::string text = fmt::format(
      "cost    {} rounds, {}, beside the best's own run\n"
      "formula {} = {} rounds",
      cost.rounds, human_bytes(static_cast<double>(cost.bytes)), formula_text(search), cost.formula);
  if (cost.spared > 0) text += fmt::format("; {} of them spared by stopping the lost", cost.spared);
  return text;
}

Json search_value(const RateSearch& search, const Config& config) {
  const SearchPlan& plan = search.plan();
  Json steps = Json::array(), candidates = Json::array();
  for (const SearchStep& step : search.steps()) {
    steps.push_back(
        {{"kind", kind_name(step.kind)}, {"candidates", step.candidates}, {"rounds", step.rounds}});
  }
  for (const Candidate& candidate : search.candidates()) candidates.push_back(candidate_json(candidate));
  Json json = {{"format", kResultFormat},
               {"method", config.tune.method},
               {"parameter", config.tune.parameter},
               {"outcome", outcome_name(search.outcome())},
               {"best", nullptr},
               {"rounds", nullptr},
               {"start", plan.start},
               {"delta", plan.delta},
               {"target", plan.target},
               {"window", plan.window},
               {"max_rounds", plan.max_rounds},
               {"cost", cost_json(search)},
               {"steps", steps},
               {"candidates", candidates}};
  if (search.best()) {
    json["best"] = search.candidates()[*search.best()].value;
    json["rounds"] = search.candidates()[*search.best()].rounds.size();
  }
  return json;
}

std::string search_json(const RateSearch& search, const Config& config) {
  return search_value(search, config).dump(2) + "\n";
}

}  // namespace subfleet
