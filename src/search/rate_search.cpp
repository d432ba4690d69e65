// Verardo et al., "Fast Server Learning Rate Tuning for Coded Federated Dropout", Algorithm 1, with what
// docs/rate-search.md adds where the paper is silent.

#include "subfleet/rate_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/schedule.h"

namespace subfleet {
namespace {

// How much worse than guessing a whole window must be for a candidate to be lost. A high rate that still
// learns is that bad for a round or two at most, a slow one never.
constexpr double kHopelessLoss = 2;

// The mean of a field over the last rounds, at most `window` of them.
double recent_mean(std::span<const CandidateRound> rounds, uint32_t window, double CandidateRound::*field) {
  rounds = rounds.last(std::min<size_t>(window, rounds.size()));
  const double sum = std::accumulate(rounds.begin(), rounds.end(), 0.0,
                                     [&](double so_far, const auto& round) { return so_far + round.*field; });
  return rounds.empty() ? 0 : sum / static_cast<double>(rounds.size());
}

// The mean of the weights that ends a run with a constant rate: over about an eighth of its rounds.
double average_over_an_eighth(uint32_t rounds) { return 1 - 8.0 / std::max(rounds, 16u); }

void check_halving(const Config& config) {
  if (config.tune.parameter != "server.lr")
    throw bad_request("tune.parameter", "halving (tune.method) searches server.lr alone");
  if (config.schedules.horizon < HalvingSearch::kFewestRounds) {
    throw bad_request("run.rounds", fmt::format("{} are too few to be halved; at least {}",
                                                config.schedules.horizon, HalvingSearch::kFewestRounds));
  }
}

void check_race(const Config& config, double target, uint32_t classes) {
  const TuneOptions& tune = config.tune;
  if (!(target > 0 && target <= 1)) {
    throw bad_request("tune.target", fmt::format("an accuracy of {:.4g} among {} classes is not above 0 and "
                                                 "at most 1",
                                                 target, classes));
  }
  if (tune.window > tune.max_rounds) {
    throw bad_request("tune.window", fmt::format("{} rounds are more than the {} of tune.max_rounds",
                                                 tune.window, tune.max_rounds));
  }
  if (tune.max_rounds > config.run.rounds) {
    throw bad_request("tune.max_rounds", fmt::format("{} rounds are more than the {} of run.rounds",
                                                     tune.max_rounds, config.run.rounds));
  }
}

bool is_better(const Candidate& a, const Candidate& b, bool first_wins) {
  const bool reached = a.fate == Fate::kReached;
  if (reached != (b.fate == Fate::kReached)) return reached;
  if (reached && a.round_count() != b.round_count()) return a.round_count() < b.round_count();
  if (reached && first_wins) return false;  // b was tried before
  return a.accuracy > b.accuracy;
}

}  // namespace

void resolve_tune(Config& config) {
  if (config.tune.start == 0) config.tune.start = numeric_setting(config, config.tune.parameter).value;
  if (config.tune.max_rounds == 0) config.tune.max_rounds = config.run.rounds;
  if (config.tune.method == "halving") {
    if (config.schedules.horizon == 0) config.schedules.horizon = config.run.rounds;
    const bool falls = config.schedules.server.schedule != ScheduleOptions().schedule;
    if (config.tune.average && config.server.average == 0 && !falls)
      config.server.average = average_over_an_eighth(config.schedules.horizon);
  }
  resolve_horizon(config);
}

SearchPlan make_search_plan(const Config& config, uint32_t classes) {
  Config resolved = config;
  resolve_tune(resolved);
  const TuneOptions& tune = resolved.tune;
  const NumericSetting setting = numeric_setting(config, tune.parameter);
  if (!(tune.start > 0 && tune.start >= setting.low && tune.start <= setting.high) ||
      (setting.whole && tune.start != std::round(tune.start))) {
    throw bad_request("tune.start", fmt::format("{} cannot be the start of a search for {}; it must be a{} "
                                                "number above 0 and from {} to {}",
                                                tune.start, tune.parameter, setting.whole ? " whole" : "",
                                                setting.low, setting.high));
  }
  const bool halving = tune.method == "halving";
  const double target = tune.target.among(classes);
  halving ? check_halving(resolved) : check_race(resolved, target, classes);
  return {.start = tune.start,
          .delta = tune.delta,
          .steps = tune.steps,
          .outward = tune.outward,
          .target = target,
          .window = tune.window,
          .max_rounds = tune.max_rounds,
          .guess_loss = std::log(static_cast<double>(classes)),
          .low = setting.low,
          .high = setting.high,
          .whole = setting.whole,
          .first_wins = tune.ties == "first",
          .horizon = halving ? resolved.schedules.horizon : 0};
}

std::string_view fate_name(Fate fate) {
  switch (fate) {
    case Fate::kReached:
      return "reached the target";
    case Fate::kOvertaken:
      return "overtaken";
    case Fate::kTooSlow:
      return "too slow";
    case Fate::kHopeless:
      return "hopeless";
    case Fate::kDiverged:
      return "diverged";
    case Fate::kBeaten:
      return "beaten";
    case Fate::kWaiting:
      return "waiting";
    case Fate::kWon:
      return "won";
    case Fate::kRunning:
      break;
  }
  return "running";
}

uint64_t Candidate::bytes() const {
  uint64_t sum = 0;
  for (const CandidateRound& round : rounds) sum += round.bytes;
  return sum;
}

RateSearch::RateSearch(const SearchPlan& plan, double delta)
    : plan_(plan), delta_(delta), limit_(plan.max_rounds) {}

RateSearch::RateSearch(const SearchPlan& plan) : RateSearch(plan, plan.delta) {
  begin_step(SearchStep::Kind::kFirst, std::array{0.0, -delta_, delta_});
}

std::vector<size_t> RateSearch::running() const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].fate == Fate::kRunning) indices.push_back(i);
  }
  return indices;
}

void RateSearch::record(std::span<const CandidateRound> rounds) {
  const std::vector<size_t> ran = running();
  for (size_t i = 0; i < ran.size(); ++i) {
    Candidate& candidate = candidates_[ran[i]];
    candidate.rounds.push_back(rounds[i]);
    candidate.accuracy = recent_mean(candidate.rounds, plan_.window, &CandidateRound::accuracy);
  }
  judge(ran);
  if (running().empty()) end_step();
}

void RateSearch::stop_if_lost(Candidate& candidate) const {
  const double loss = recent_mean(candidate.rounds, plan_.window, &CandidateRound::loss);
  if (!std::isfinite(candidate.rounds.back().accuracy) || !std::isfinite(loss)) {
    candidate.fate = Fate::kDiverged;
  } else if (candidate.round_count() >= plan_.window && loss > kHopelessLoss * plan_.guess_loss) {
    candidate.fate = Fate::kHopeless;
  }
}

void RateSearch::judge(std::span<const size_t> ran) {
  for (const size_t index : ran) {
    Candidate& candidate = candidates_[index];
    if (candidate.round_count() < plan_.window || !(candidate.accuracy >= plan_.target)) continue;
    candidate.fate = Fate::kReached;
    limit_ = std::min(limit_, candidate.round_count());
  }
  const bool anyone_reached =
      std::ranges::any_of(candidates_, [](const Candidate& c) { return c.fate == Fate::kReached; });
  for (const size_t index : ran) {
    Candidate& candidate = candidates_[index];
    if (candidate.fate != Fate::kRunning) continue;
    stop_if_lost(candidate);
    if (candidate.fate == Fate::kRunning && candidate.round_count() >= limit_)
      candidate.fate = anyone_reached ? Fate::kOvertaken : Fate::kTooSlow;
  }
}

void RateSearch::end_step() {
  steps_.back().rounds = limit_;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].lost()) continue;
    if (!best_ || is_better(candidates_[i], candidates_[*best_], plan_.first_wins)) best_ = i;
  }
  const bool reached = best_ && candidates_[*best_].fate == Fate::kReached;
  // Between rates that are lost and a best that is too slow, there is nothing to find further out.
  const bool wedged = best_ && !reached && std::ranges::any_of(candidates_, &Candidate::lost);
  if (!wedged && move_outward()) return;
  if (reached && refine()) return;
  outcome_ = reached ? Outcome::kFound : best_ ? Outcome::kNotReached : Outcome::kAllLost;
}

// Past the edge at which the best stands; below them all if all are lost, for what is lost is too high.
bool RateSearch::move_outward() {
  if (moves_outward_ == plan_.outward) return false;
  const auto [lowest, highest] = std::ranges::minmax_element(candidates_, {}, &Candidate::offset);
  std::vector<double> offsets;
  if (!best_ || candidates_[*best_].offset == lowest->offset) offsets.push_back(lowest->offset - delta_);
  if (best_ && candidates_[*best_].offset == highest->offset) offsets.push_back(highest->offset + delta_);
  if (!begin_step(SearchStep::Kind::kOutward, offsets)) return false;
  ++moves_outward_;
  return true;
}

bool RateSearch::refine() {
  while (refinements_ < plan_.steps) {
    ++refinements_;
    delta_ /= 2;
    const double at = candidates_[*best_].offset;
    if (begin_step(SearchStep::Kind::kRefine, std::array{at - delta_, at + delta_})) return true;
  }
  return false;
}

// Four digits are as precise as a search in log10 can be, and can be typed.
double RateSearch::value_at(double offset) const {
  const double value =
      offset == 0 ? plan_.start : number_in(fmt::format("{:.4g}", plan_.start * std::pow(10, offset)));
  return plan_.whole ? std::round(value) : value;
}

bool RateSearch::begin_step(SearchStep::Kind kind, std::span<const double> offsets) {
  SearchStep step{.kind = kind};
  for (const double offset : offsets) {
    const double value = value_at(offset);
    const bool tried = std::ranges::any_of(candidates_, [&](const Candidate& c) { return c.value == value; });
    if (tried || !(value > 0 && value >= plan_.low && value <= plan_.high)) continue;
    candidates_.push_back({.value = value, .offset = offset, .step = steps_.size()});
    ++step.candidates;
  }
  if (step.candidates == 0) return false;
  steps_.push_back(step);
  return true;
}

SearchCost RateSearch::cost() const {
  SearchCost cost;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const bool won = outcome_ == Outcome::kFound && i == *best_;
    if (!won) {
      cost.rounds += candidates_[i].round_count();
      cost.bytes += candidates_[i].bytes();
    }
    const uint32_t limit = steps_[candidates_[i].step].rounds;
    if (candidates_[i].lost()) cost.spared += limit - std::min(limit, candidates_[i].round_count());
  }
  for (const SearchStep& step : steps_) cost.formula += uint64_t{step.candidates} * step.rounds;
  if (outcome_ == Outcome::kFound) cost.formula -= candidates_[*best_].round_count();
  if (plan_.horizon > 0) cost.spared = cost.formula - std::min(cost.formula, cost.rounds);
  return cost;
}

}  // namespace subfleet
