#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "subfleet/rate_search.h"

namespace subfleet {

double late_loss(std::span<const CandidateRound> rounds) {
  if (rounds.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto late = rounds.last((rounds.size() + 3) / 4);
  return std::accumulate(late.begin(), late.end(), 0.0,
                         [](double sum, const CandidateRound& round) { return sum + round.loss; }) /
         static_cast<double>(late.size());
}

HalvingSearch::HalvingSearch(const SearchPlan& plan) : RateSearch(plan, plan.delta / 2) {
  limit_ = first_length();
  begin_step(SearchStep::Kind::kFirst, std::array{0.0, -delta_, delta_});
}

void HalvingSearch::judge(std::span<const size_t> ran) {
  for (const size_t index : ran) {
    Candidate& candidate = candidates_[index];
    stop_if_lost(candidate);
    candidate.loss = late_loss(candidate.rounds);
    if (candidate.fate == Fate::kRunning && candidate.round_count() == limit_)
      candidate.fate = Fate::kWaiting;
  }
}

// Those that wait, the lowest loss first.
std::vector<size_t> HalvingSearch::by_loss() const {
  std::vector<size_t> waiting;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].fate == Fate::kWaiting) waiting.push_back(i);
  }
  std::ranges::stable_sort(waiting, {}, [&](size_t i) { return candidates_[i].loss; });
  return waiting;
}

void HalvingSearch::end_step() {
  const SearchStep::Kind kind = steps_.back().kind;
  const bool last = kind == SearchStep::Kind::kLast;
  steps_.back().rounds = last ? last_length() - first_length() : first_length();
  const std::vector<size_t> waiting = by_loss();
  best_ = waiting.empty() ? std::nullopt : std::optional(waiting.front());
  if (kind == SearchStep::Kind::kFirst || kind == SearchStep::Kind::kOutward) {
    if (move_outward()) return;
    delta_ /= 2;
    const double at = best_ ? candidates_[*best_].offset : 0;
    if (best_ && begin_step(SearchStep::Kind::kRefine, std::array{at - delta_, at + delta_})) return;
  }
  const size_t stay = last ? 1 : 2;
  for (size_t i = stay; i < waiting.size(); ++i) candidates_[waiting[i]].fate = Fate::kBeaten;
  if (last || waiting.size() < stay) {
    if (best_) candidates_[*best_].fate = Fate::kWon;
    outcome_ = best_ ? Outcome::kFound : Outcome::kAllLost;
    return;
  }
  for (size_t i = 0; i < stay; ++i) candidates_[waiting[i]].fate = Fate::kRunning;
  steps_.push_back({.kind = SearchStep::Kind::kLast, .candidates = static_cast<uint32_t>(stay)});
  limit_ = last_length();
}

std::unique_ptr<RateSearch> make_search(const SearchPlan& plan) {
  if (plan.horizon > 0) return std::make_unique<HalvingSearch>(plan);
  return std::make_unique<RateSearch>(plan);
}

}  // namespace subfleet
