#include "reproduce/predictors.h"

#include <algorithm>
#include <cmath>

#include "subfleet/codes/quality.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"

namespace subfleet {
namespace {

constexpr uint32_t kRounds = 5;

double property_of(const std::string& name, const CodeBook& book) {
  const BookQuality quality = measure(book, Shifts::kNone);
  const auto length = static_cast<double>(quality.length);
  if (name == "correlation")
    return static_cast<double>(quality.correlation.value_or(quality.length)) / length;
  if (name == "distance") return static_cast<double>(quality.least_distance.value_or(0)) / length;
  if (name == "coverage") return static_cast<double>(quality.least_coverage) / quality.mean_coverage;
  throw unknown_name("property", name, property_names());
}

// The places of the values in their order; equal ones share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += other < value ? 1 : 0;
      equal += other == value ? 1 : 0;
    }
    result.push_back(below + (equal + 1) / 2);
  }
  return result;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

}  // namespace

std::vector<std::string> property_names() { return {"correlation", "distance", "coverage"}; }

double book_property(const std::string& name, const Config& config) {
  const ModelSpec model = resolve_model(config.model);
  double sum = 0, count = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const RoundMasks masks(model, config.code, config.run.seed, round, config.round.clients);
    for (const CodeBook& book : masks.books()) {
      sum += property_of(name, book);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

std::vector<Predicted> predicted(const std::string& property, const Measured& measured,
                                 const std::vector<std::string>& without) {
  std::vector<Predicted> runs;
  for (size_t i = 0; i < measured.plan->runs.size(); ++i) {
    const SweepRun& run = measured.plan->runs[i];
    const auto& accuracy = measured.results.runs[i].accuracy;
    if (!accuracy || run.config.code.family == "none" ||
        std::ranges::find(without, run.name) != without.end())
      continue;
    Estimate percent{.mean = 100 * accuracy->mean, .interval = accuracy->interval, .count = accuracy->count};
    if (percent.interval) *percent.interval *= 100;
    Predicted& one = runs.emplace_back(Predicted{run.name, book_property(property, run.config), percent, {}});
    for (const SeedResult& seed : measured.results.runs[i].seeds) {
      if (seed.accuracy) one.by_seed[seed.seed] = 100 * *seed.accuracy;
    }
  }
  return runs;
}

std::optional<Estimate> rank_correlation(const std::vector<Predicted>& runs) {
  if (runs.size() < 4) return std::nullopt;
  std::vector<double> properties, correlations;
  for (const Predicted& run : runs) properties.push_back(run.property);
  for (const auto& [seed, first] : runs.front().by_seed) {
    std::vector<double> accuracies;
    for (const Predicted& run : runs) {
      if (const auto found = run.by_seed.find(seed); found != run.by_seed.end())
        accuracies.push_back(found->second);
    }
    if (accuracies.size() == runs.size())
      correlations.push_back(correlation(ranks(properties), ranks(accuracies)));
  }
  return estimate(correlations);
}

}  // namespace subfleet
