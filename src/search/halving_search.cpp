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
  plan_.window = std::min(plan_.window, first_length());  // so that what is hopeless shows in the first step
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

// Those that wait after so many rounds, the lowest loss first.
std::vector<size_t> HalvingSearch::waiting_after(uint32_t rounds) const {
  std::vector<size_t> waiting;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].fate == Fate::kWaiting && candidates_[i].round_count() == rounds) waiting.push_back(i);
  }
  std::ranges::stable_sort(waiting, {}, [&](size_t i) { return candidates_[i].loss; });
  return waiting;
}

void HalvingSearch::end_step() {
  SearchStep& step = steps_.back();
  const bool last = step.kind == SearchStep::Kind::kLast, refined = step.kind == SearchStep::Kind::kRefine;
  step.rounds = last ? last_length() - first_length() : first_length();
  if (const auto finalists = waiting_after(last_length()); !finalists.empty()) return end(finalists.front());
  const auto waiting = waiting_after(first_length());
  best_ = waiting.empty() ? std::nullopt : std::optional(waiting.front());
  if (!last && !refined) {
    if (move_outward()) return;
    delta_ /= 2;
    const double at = best_ ? candidates_[*best_].offset : 0;
    if (best_ && begin_step(SearchStep::Kind::kRefine, std::array{at - delta_, at + delta_})) return;
  }
  if (!best_) {
    outcome_ = Outcome::kAllLost;
    return;
  }
  // The best two; after a last step in which both were lost, the next two.
  const size_t stay = std::min<size_t>(2, waiting.size());
  for (size_t i = 0; i < stay; ++i) candidates_[waiting[i]].fate = Fate::kRunning;
  steps_.push_back({.kind = SearchStep::Kind::kLast, .candidates = static_cast<uint32_t>(stay)});
  limit_ = last_length();
}

void HalvingSearch::end(size_t winner) {
  for (Candidate& candidate : candidates_) {
    if (candidate.fate == Fate::kWaiting) candidate.fate = Fate::kBeaten;
  }
  candidates_[winner].fate = Fate::kWon;
  best_ = winner;
  outcome_ = Outcome::kFound;
}

std::unique_ptr<RateSearch> make_search(const SearchPlan& plan) {
  if (plan.horizon > 0) return std::make_unique<HalvingSearch>(plan);
  return std::make_unique<RateSearch>(plan);
}

}  // namespace subfleet
