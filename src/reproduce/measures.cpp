#include "subfleet/reproduce/measures.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "reproduce/predictors.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Values = std::vector<double>;

constexpr auto kShare = "share";

size_t number_of(const Measured& measured, const std::string& name) {
  const auto& runs = measured.plan->runs;
  return static_cast<size_t>(std::ranges::find(runs, name, &SweepRun::name) - runs.begin());
}

const RunResult& run_of(const Measured& measured, const std::string& name) {
  return measured.results.runs[number_of(measured, name)];
}

// What a function makes of the two runs' results with the same seed, for those seeds that both have.
Values paired(const ExpectedValue& value, const Measured& measured,
              const std::function<std::optional<double>(const SeedResult&, const SeedResult&)>& function) {
  Values values;
  for (const SeedResult& ours : run_of(measured, value.run).seeds) {
    for (const SeedResult& theirs : run_of(measured, value.of).seeds) {
      if (ours.seed != theirs.seed) continue;
      if (const auto one = function(ours, theirs)) values.push_back(*one);
    }
  }
  return values;
}

Values accuracies(const ExpectedValue& value, const Measured& measured) {
  Values values;
  for (const SeedResult& seed : run_of(measured, value.run).seeds) {
    if (seed.accuracy) values.push_back(100 * *seed.accuracy);
  }
  return values;
}

Values accuracy_ratios(const ExpectedValue& value, const Measured& measured) {
  return paired(value, measured, [](const SeedResult& a, const SeedResult& b) {
    return a.accuracy && b.accuracy ? std::optional(100 * *a.accuracy / *b.accuracy) : std::nullopt;
  });
}

// Beside a run that has not diverged, one that has has learnt nothing: 0 %.
std::optional<double> difference(const SeedResult& a, const std::optional<double>& of_a, const SeedResult& b,
                                 const std::optional<double>& of_b) {
  if ((!of_a && !a.diverged) || (!of_b && !b.diverged) || (!of_a && !of_b)) return std::nullopt;
  return of_a.value_or(0) - of_b.value_or(0);
}

Values accuracy_differences(const ExpectedValue& value, const Measured& measured) {
  Values values = paired(value, measured, [](const SeedResult& a, const SeedResult& b) {
    return difference(a, a.accuracy, b, b.accuracy);
  });
  for (double& one : values) one *= 100;
  return values;
}

// In percent, of the last round that was tested.
std::optional<double> last_test(const SeedResult& result) {
  return result.diverged || result.tests.empty() ? std::nullopt
                                                 : std::optional(100 * result.tests.back().accuracy);
}

Values last_tests(const ExpectedValue& value, const Measured& measured) {
  Values values;
  for (const SeedResult& seed : run_of(measured, value.run).seeds) {
    if (const auto one = last_test(seed)) values.push_back(*one);
  }
  return values;
}

Values last_test_differences(const ExpectedValue& value, const Measured& measured) {
  return paired(value, measured, [](const SeedResult& a, const SeedResult& b) {
    return difference(a, last_test(a), b, last_test(b));
  });
}

Values bytes_saved(const ExpectedValue& value, const Measured& measured) {
  const double ours = run_of(measured, value.run).bytes_per_round,
               theirs = run_of(measured, value.of).bytes_per_round;
  return ours > 0 && theirs > 0 ? Values{100 * (1 - ours / theirs)} : Values{};
}

// How many times fewer bytes a run needs to the highest accuracy that both reach.
Values bytes_ratios(const ExpectedValue& value, const Measured& measured) {
  const auto highest = [](const SeedResult& result) {
    double most = 0;
    for (const SmoothedTest& test : result.tests) {
      if (bytes_until_mean_reaches(result.tests, test.smoothed)) most = std::max(most, test.smoothed);
    }
    return most;
  };
  return paired(value, measured, [&](const SeedResult& a, const SeedResult& b) -> std::optional<double> {
    const double level = std::min(highest(a), highest(b));
    const auto ours = bytes_until_mean_reaches(a.tests, level),
               theirs = bytes_until_mean_reaches(b.tests, level);
    if (level == 0 || !ours || !theirs) return std::nullopt;
    return static_cast<double>(*theirs) / static_cast<double>(*ours);
  });
}

// What a function makes of the searches of a run.
Values of_searches(const std::string& run, const Measured& measured,
                   const std::function<std::optional<double>(const FinishedSearch&)>& function) {
  Values values;
  for (const auto& search : measured.searches[number_of(measured, run)]) {
    if (!search) continue;
    if (const auto one = function(*search)) values.push_back(*one);
  }
  return values;
}

std::optional<double> rounds_found(const FinishedSearch& search) {
  return search.log10 ? std::optional<double>(search.rounds) : std::nullopt;
}

Values search_rounds(const ExpectedValue& value, const Measured& measured) {
  return of_searches(value.run, measured, rounds_found);
}

Values extra_rounds(const ExpectedValue& value, const Measured& measured) {
  return of_searches(value.run, measured, [](const FinishedSearch& search) {
    return search.log10 ? std::optional(search.extra_rounds) : std::nullopt;
  });
}

Values found_rates(const ExpectedValue& value, const Measured& measured) {
  return of_searches(value.run, measured, [](const FinishedSearch& search) { return search.log10; });
}

// How many times faster the first run's searches end at the target than the second's, with the same seed.
Values speed_ups(const ExpectedValue& value, const Measured& measured) {
  const auto& ours = measured.searches[number_of(measured, value.run)];
  const auto& theirs = measured.searches[number_of(measured, value.of)];
  Values values;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] && theirs[i] && ours[i]->log10 && theirs[i]->log10)
      values.push_back(static_cast<double>(theirs[i]->rounds) / ours[i]->rounds);
  }
  return values;
}

Values rounds_at_rate(const ExpectedValue& value, const Measured& measured) {
  Values values;
  for (const auto& rates : measured.rates[number_of(measured, value.run)]) {
    if (!rates) continue;
    const auto found = rates->find(value.at.value_or(0));
    if (found != rates->end() && found->second) values.push_back(*found->second);
  }
  return values;
}

// The rate that needs the fewest rounds, and these.
struct Fastest {
  double log10 = 0, rounds = 0;
};
std::optional<Fastest> fastest(const std::optional<RateRounds>& rates) {
  std::optional<Fastest> best;
  if (!rates) return best;
  for (const auto& [log10, rounds] : *rates) {
    if (rounds && (!best || *rounds < best->rounds)) best = Fastest{log10, static_cast<double>(*rounds)};
  }
  return best;
}

Values fastest_rates(const ExpectedValue& value, const Measured& measured) {
  Values values;
  for (const auto& rates : measured.rates[number_of(measured, value.run)]) {
    if (const auto best = fastest(rates)) values.push_back(best->log10);
  }
  return values;
}

// What a function makes of the fastest rates of two runs with the same seed.
Values paired_fastest(const ExpectedValue& value, const Measured& measured,
                      double (*function)(const Fastest&, const Fastest&)) {
  const auto& ours = measured.rates[number_of(measured, value.run)];
  const auto& theirs = measured.rates[number_of(measured, value.of)];
  Values values;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const auto a = fastest(ours[i]), b = fastest(theirs[i]);
    if (a && b) values.push_back(function(*a, *b));
  }
  return values;
}

Values fastest_rate_differences(const ExpectedValue& value, const Measured& measured) {
  return paired_fastest(value, measured,
                        [](const Fastest& a, const Fastest& b) { return a.log10 - b.log10; });
}

Values fewest_rounds_ratios(const ExpectedValue& value, const Measured& measured) {
  return paired_fastest(value, measured,
                        [](const Fastest& a, const Fastest& b) { return a.rounds / b.rounds; });
}

// In how many of a hundred searches a rate is found.
std::optional<Estimate> share(const ExpectedValue& value, const Measured& measured) {
  const Values found = of_searches(value.run, measured, [](const FinishedSearch& search) {
    return std::optional(search.log10.value_or(std::nan("")));
  });
  if (found.empty()) return std::nullopt;
  const auto hits = static_cast<double>(std::ranges::count(found, value.at.value_or(0)));
  return Estimate{100 * hits / static_cast<double>(found.size()), std::nullopt, found.size()};
}

std::optional<Estimate> prediction(const ExpectedValue& value, const Measured& measured) {
  return rank_correlation(predicted(value.property, measured, value.without));
}

using Function = std::function<std::optional<Estimate>(const ExpectedValue&, const Measured&)>;

// The mean over what is one value per seed.
Function over_seeds(Values (*values)(const ExpectedValue&, const Measured&)) {
  return
      [=](const ExpectedValue& value, const Measured& measured) { return estimate(values(value, measured)); };
}

struct Measure {
  std::string name;
  ExperimentKind kind;
  Function estimate;
  enum class Needs { kNothing, kRun, kRunAndOf, kRunAndAt } needs;
};

const std::vector<Measure>& measures() {
  using enum ExperimentKind;
  using enum Measure::Needs;
  static const std::vector<Measure> table{
      {"accuracy", kRuns, over_seeds(accuracies), kRun},
      {"accuracy ratio", kRuns, over_seeds(accuracy_ratios), kRunAndOf},
      {"accuracy difference", kRuns, over_seeds(accuracy_differences), kRunAndOf},
      {"last test", kRuns, over_seeds(last_tests), kRun},
      {"last test difference", kRuns, over_seeds(last_test_differences), kRunAndOf},
      {"bytes per round saved", kRuns, over_seeds(bytes_saved), kRunAndOf},
      {"times fewer bytes", kRuns, over_seeds(bytes_ratios), kRunAndOf},
      {"rank correlation", kRuns, prediction, kNothing},
      {kShare, kSearches, share, kRunAndAt},
      {"rate", kSearches, over_seeds(found_rates), kRun},
      {"rounds", kSearches, over_seeds(search_rounds), kRun},
      {"extra rounds", kSearches, over_seeds(extra_rounds), kRun},
      {"speed-up", kSearches, over_seeds(speed_ups), kRunAndOf},
      {"rounds", kRates, over_seeds(rounds_at_rate), kRunAndAt},
      {"fastest rate", kRates, over_seeds(fastest_rates), kRun},
      {"fastest rate difference", kRates, over_seeds(fastest_rate_differences), kRunAndOf},
      {"fewest rounds ratio", kRates, over_seeds(fewest_rounds_ratios), kRunAndOf},
  };
  return table;
}

const Measure& measure_of(const ExpectedValue& value, ExperimentKind kind) {
  for (const Measure& one : measures()) {
    if (one.kind == kind && one.name == value.measure) return one;
  }
  throw unknown_name("measure", value.measure, measure_names(kind));
}

}  // namespace

std::vector<std::string> measure_names(ExperimentKind kind) {
  std::vector<std::string> names;
  for (const Measure& measure : measures()) {
    if (measure.kind == kind) names.push_back(measure.name);
  }
  return names;
}

std::string missing_key(const ExpectedValue& value, ExperimentKind kind) {
  using enum Measure::Needs;
  const auto needs = measure_of(value, kind).needs;
  if (needs != kNothing && value.run.empty()) return "run";
  if (needs == kRunAndOf && value.of.empty()) return "of";
  return needs == kRunAndAt && !value.at ? "at" : "";
}

std::optional<Estimate> measure(const ExpectedValue& value, ExperimentKind kind, const Measured& measured) {
  return measure_of(value, kind).estimate(value, measured);
}

bool is_share(const ExpectedValue& value) { return value.measure == kShare; }

Verdict compare(const ExpectedValue& value, const std::optional<Estimate>& ours) {
  const Claim& claim = value.paper;
  if (claim.kind == Claim::Kind::kNone || !ours) return Verdict::kNothingToCompare;
  if (is_share(value)) {
    const size_t theirs = value.paper_trials.value_or(ours->count);
    const auto hits = [](double percent, size_t trials) {
      return static_cast<size_t>(std::lround(percent / 100 * static_cast<double>(trials)));
    };
    const double chance =
        fisher_exact_p(hits(ours->mean, ours->count), ours->count, hits(claim.number, theirs), theirs);
    return chance < 0.05 ? Verdict::kDiffers : Verdict::kAgrees;
  }
  const double interval = ours->interval.value_or(0);
  bool agrees = std::abs(ours->mean - claim.number) <= interval + claim.half_digit;
  if (claim.kind == Claim::Kind::kBelow) agrees = ours->mean + interval < claim.number;
  if (claim.kind == Claim::Kind::kAbove) agrees = ours->mean - interval > claim.number;
  return agrees ? Verdict::kAgrees : Verdict::kDiffers;
}

}  // namespace subfleet
