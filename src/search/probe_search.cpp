#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "subfleet/rate_search.h"

namespace subfleet {
namespace {

// The mean of the last quarter of a probe's rounds, when its rate has fallen to nearly nothing.
double loss_of(const Candidate& probe, double guess_loss) {
  const uint32_t count = (probe.length + 3) / 4;
  if (probe.fate != Fate::kProbed) return guess_loss;
  double sum = 0;
  for (auto round = probe.rounds.end() - count; round != probe.rounds.end(); ++round) sum += round->loss;
  return std::min(guess_loss, sum / count);
}

// Where the parabola through the values at -1, 0 and 1 is lowest, but not further out than 3/2: what lies
// beyond the outer values is a guess.
double lowest_point(double left, double middle, double right) {
  constexpr double kFurthest = 1.5;
  const double curvature = left - 2 * middle + right;
  if (curvature <= 0) return left < right ? -kFurthest : kFurthest;
  return std::clamp((left - right) / (2 * curvature), -kFurthest, kFurthest);
}

// How far the value falls from runs of one length to longer ones, in log10.
double fall(uint32_t from, uint32_t to) { return std::log10(static_cast<double>(to) / from) / 4; }

}  // namespace

ProbeSearch::ProbeSearch(const SearchPlan& plan) : RateSearch(plan, plan.delta / 2) {
  limit_ = shorter();
  begin_step(SearchStep::Kind::kFirst, std::array{0.0, -delta_, delta_}, limit_);
}

void ProbeSearch::judge(std::span<const size_t> ran) {
  for (const size_t index : ran) {
    Candidate& probe = candidates_[index];
    stop_if_lost(probe);
    if (probe.fate == Fate::kRunning && probe.round_count() == probe.length) probe.fate = Fate::kProbed;
    probe.loss = loss_of(probe, plan_.guess_loss);
  }
}

std::optional<size_t> ProbeSearch::best_of(uint32_t length) const {
  std::optional<size_t> best;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& probe = candidates_[i];
    if (probe.length != length || probe.fate != Fate::kProbed) continue;
    if (!best || probe.loss < candidates_[*best].loss) best = i;
  }
  return best;
}

// Of the best probe and its two neighbours; an outermost one is judged by the three next to that end.
double ProbeSearch::pointed_to(uint32_t length) const {
  std::vector<Candidate> probes;
  for (const Candidate& probe : candidates_) {
    if (probe.length == length) probes.push_back(probe);
  }
  std::ranges::sort(probes, {}, &Candidate::offset);
  const auto best = static_cast<size_t>(std::ranges::min_element(probes, {}, &Candidate::loss) - probes.begin());
  if (probes.size() < 3) return probes[best].offset;
  const size_t middle = std::clamp<size_t>(best, 1, probes.size() - 2);
  return probes[middle].offset +
         delta_ * lowest_point(probes[middle - 1].loss, probes[middle].loss, probes[middle + 1].loss);
}

void ProbeSearch::end_step() {
  const uint32_t length = candidates_.back().length;
  steps_.back().rounds = length;
  best_ = best_of(length);
  if (length == shorter()) {
    if (move_outward(length)) return;
    if (best_) {
      const double at = pointed_to(length) - fall(shorter(), longer());
      delta_ /= 2;
      limit_ = longer();
      if (begin_step(SearchStep::Kind::kRefine, std::array{at, at - delta_, at + delta_}, limit_)) return;
    }
  }
  outcome_ = best_ ? Outcome::kFound : Outcome::kAllLost;
}

double ProbeSearch::chosen() const {
  const double offset = pointed_to(longer()) - fall(longer(), plan_.horizon);
  return std::clamp(value_at(offset), plan_.low, plan_.high);
}

std::unique_ptr<RateSearch> make_search(const SearchPlan& plan) {
  if (plan.horizon > 0) return std::make_unique<ProbeSearch>(plan);
  return std::make_unique<RateSearch>(plan);
}

}  // namespace subfleet
