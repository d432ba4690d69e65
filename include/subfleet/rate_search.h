#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "subfleet/config.h"

namespace subfleet {

// What a search looks for, and where. The fields are those of TuneOptions, resolved.
struct SearchPlan {
  double start = 0.01;
  double delta = 1;
  uint32_t steps = 3;
  uint32_t outward = 4;
  double target = 0;  // an accuracy
  uint32_t window = 5;
  uint32_t max_rounds = 500;
  double guess_loss = 0;     // the loss of guessing among the classes: their logarithm
  double low = 0, high = 0;  // what the setting can be
  bool whole = false;        // only without fractions
  bool first_wins = false;   // among equally fast candidates, not the more accurate
  uint32_t horizon =
      0;  // the rounds of the run that candidates are (tune.method = "halving"); 0: the paper's
};

// The plan of config.tune, for data with `classes` classes. Throws Error if it is impossible.
SearchPlan make_search_plan(const Config& config, uint32_t classes);

// Gives tune.start and tune.max_rounds their values where they are 0, so that later defaults cannot change a
// saved search.
void resolve_tune(Config& config);

// How a candidate's round went.
struct CandidateRound {
  double accuracy = 0;  // of the median client, as it trained; not finite: the candidate diverged
  double loss = 0;
  uint64_t bytes = 0;  // exchanged, both ways
};

enum class Fate {
  kRunning,
  kReached,    // the target
  kOvertaken,  // it took as many rounds as another needed to reach the target
  kTooSlow,    // it took max_rounds, and no other had reached the target either
  kHopeless,   // its clients lose more than twice what guessing does, over a whole window
  kBeaten,     // at the end of a step of halving others had come further
  kWaiting,    // for the others of its step
  kWon,        // at the end of halving
  kDiverged,   // its weights, or those of all its clients, are no longer finite
};
std::string_view fate_name(Fate fate);  // "reached the target"

// The mean loss of the last quarter of these rounds.
double late_loss(std::span<const CandidateRound> rounds);

// One value that is tried.
struct Candidate {
  double value = 0;
  double offset = 0;  // from the start, in log10
  size_t step = 0;    // in which it was tried
  Fate fate = Fate::kRunning;
  std::vector<CandidateRound> rounds = {};
  double accuracy = 0;  // mean over the last `window` rounds; what the target is compared with
  double loss = 0;      // what halving judges it by

  uint32_t round_count() const { return static_cast<uint32_t>(rounds.size()); }
  uint64_t bytes() const;
  bool lost() const { return fate == Fate::kHopeless || fate == Fate::kDiverged; }
};

// Candidates that run side by side.
struct SearchStep {
  enum class Kind { kFirst, kOutward, kRefine, kLast };  // the last: some of before go on
  Kind kind = Kind::kFirst;
  uint32_t candidates = 0;
  uint32_t rounds = 0;  // r*_i: the fewest rounds to the target known at its end, or max_rounds
};

// What a search costs beyond the winner's own run, which training continues.
struct SearchCost {
  uint64_t rounds = 0, bytes = 0;  // counted
  uint64_t formula = 0;            // the paper's: the sum of candidates * r*_i over the steps, less r*
  uint64_t spared = 0;             // rounds of candidates that were stopped as lost: formula - rounds
};

// Verardo et al., Algorithm 1, without the training: three candidates around the start, then two around the
// best with delta halved, `steps` times. The caller asks running() which candidates need a round, trains them
// and passes the results to record(). The outcome depends on the plan and those rounds alone, so an
// interrupted search is resumed by recording its rounds again. docs/rate-search.md has the rules and the
// reasons.
class RateSearch {
 public:
  enum class Outcome {
    kSearching,
    kFound,
    kNotReached,  // no candidate reached the target; best() came closest
    kAllLost,     // every candidate diverged or is hopeless; there is no best()
  };

  explicit RateSearch(const SearchPlan& plan);
  virtual ~RateSearch() = default;
  RateSearch(const RateSearch&) = default;
  RateSearch(RateSearch&&) = default;
  RateSearch& operator=(const RateSearch&) = default;
  RateSearch& operator=(RateSearch&&) = default;

  const SearchPlan& plan() const { return plan_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const std::vector<SearchStep>& steps() const { return steps_; }

  // The candidates of this step that take part in the next round; empty once the search is over.
  std::vector<size_t> running() const;
  // One round of each of running(), in that order.
  void record(std::span<const CandidateRound> rounds);

  Outcome outcome() const { return outcome_; }
  // The best candidate of the steps that are done: the fewest rounds to the target, then the higher accuracy
  // (unless plan().first_wins), then the one tried first. Of those who have not reached it, the most
  // accurate.
  std::optional<size_t> best() const { return best_; }
  // No candidate runs for longer than this.
  uint32_t round_limit() const { return limit_; }
  SearchCost cost() const;

 protected:
  // For another way to search, which begins its first step itself. After a round of those in `ran` it decides
  // who goes on, and once nobody does, what the next step is.
  RateSearch(const SearchPlan& plan, double delta);
  virtual void judge(std::span<const size_t> ran);
  virtual void end_step();

  // Leaves out values that the setting cannot have and those already tried; false if no value is left.
  bool begin_step(SearchStep::Kind kind, std::span<const double> offsets);
  double value_at(double offset) const;
  // Gives up a candidate that diverged or is hopeless.
  void stop_if_lost(Candidate& candidate) const;
  // Candidates past the edge at which the best stands, if it does and moves are left.
  bool move_outward();

  SearchPlan plan_;
  double delta_;
  uint32_t limit_;
  uint32_t refinements_ = 0, moves_outward_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<SearchStep> steps_;
  std::optional<size_t> best_;
  Outcome outcome_ = Outcome::kSearching;

 private:
  bool refine();
};

// A search for the rate that ends best after a whole run: successive halving. Candidates are whole runs side
// by side, all with the same draws, so that they differ in the rate alone; what one has come to is its mean
// training loss over the last quarter of its rounds.
//   1. For a sixteenth of the run, rates half a `delta` apart, moving outward while the best is outermost.
//   2. As long, a quarter of a `delta` to either side of the best.
//   3. The best two go on to an eighth of the run; the better one wins, and its run goes on to the end. If
//      both are lost on the way, the next two follow.
// It takes a while until the loss shows that a rate is too high, and a rate that is a little too low has the
// lower loss for long: noise is what early rounds show, and what a mean of the weights (server.average) takes
// away at the end. So the search is short, and the run that it is for averages its weights.
class HalvingSearch final : public RateSearch {
 public:
  static constexpr uint32_t kFewestRounds = 32;  // of the run

  explicit HalvingSearch(const SearchPlan& plan);

 private:
  void judge(std::span<const size_t> ran) override;
  void end_step() override;
  uint32_t first_length() const { return plan_.horizon / 16; }
  uint32_t last_length() const { return plan_.horizon / 8; }
  std::vector<size_t> waiting_after(uint32_t rounds) const;
  void end(size_t winner);
};

// The one that the plan asks for.
std::unique_ptr<RateSearch> make_search(const SearchPlan& plan);

}  // namespace subfleet
