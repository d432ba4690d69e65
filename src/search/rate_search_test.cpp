#include "subfleet/rate_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kBytesARound = 1000;

// A made-up training: how the round of that number goes with that value.
using RoundOf = std::function<CandidateRound(double value, uint32_t round)>;

constexpr SearchPlan kPlan{.start = 0.01,
                           .delta = 1,
                           .steps = 3,
                           .outward = 4,
                           .target = 0.3,
                           .window = 1,
                           .max_rounds = 500,
                           .guess_loss = 4,
                           .low = 0,
                           .high = 1e6};

void one_round(RateSearch& search, const RoundOf& round_of) {
  std::vector<CandidateRound> rounds;
  for (const size_t index : search.running()) {
    const Candidate& candidate = search.candidates()[index];
    rounds.push_back(round_of(candidate.value, candidate.round_count() + 1));
  }
  search.record(rounds);
}

RateSearch searched(const SearchPlan& plan, const RoundOf& round_of) {
  RateSearch search(plan);
  while (!search.running().empty()) one_round(search, round_of);
  return search;
}

// Learns evenly, so that the target is reached after that many rounds.
RoundOf reaching_after(const std::function<double(double log10)>& rounds) {
  return [=](double value, uint32_t round) {
    return CandidateRound{kPlan.target * (round / rounds(std::log10(value))), 1.0, kBytesARound};
  };
}

RoundOf convex(double best) {
  return reaching_after([=](double at) { return 20 + 40 * (at - best) * (at - best); });
}

double winner(const RateSearch& search) {
  EXPECT_EQ(search.outcome(), RateSearch::Outcome::kFound);
  return search.candidates()[*search.best()].value;
}

std::vector<double> offsets(const RateSearch& search) {
  std::vector<double> all;
  for (const Candidate& candidate : search.candidates()) all.push_back(candidate.offset);
  return all;
}

TEST(RateSearch, AConvexFunctionIsSearchedToTheLastDelta) {
  for (double best = -2.9; best < -1.1; best += 0.05) {
    EXPECT_NEAR(std::log10(winner(searched(kPlan, convex(best)))), best, 0.07) << best;
  }
}

TEST(RateSearch, TriesWhatTheAlgorithmPrints) {
  // The best is at -1.75 and found in the second refinement.
  EXPECT_EQ(offsets(searched(kPlan, convex(-1.75))),
            (std::vector<double>{0, -1, 1, -0.5, 0.5, 0.25, 0.75, 0.125, 0.375}));
  EXPECT_EQ(winner(searched(kPlan, convex(-1.75))), 0.01778);
}

TEST(RateSearch, StepsAreTheReadingsOfThePaper) {
  for (const auto& [steps, candidates] : {std::pair{0u, 3u}, {2u, 7u}, {3u, 9u}, {4u, 11u}}) {
    SearchPlan plan = kPlan;
    plan.steps = steps;
    EXPECT_EQ(searched(plan, convex(-2)).candidates().size(), candidates);
  }
}

TEST(RateSearch, OnAFlatFunctionTheStartWins) {
  const RateSearch search = searched(kPlan, reaching_after([](double) { return 30.0; }));
  EXPECT_EQ(winner(search), 0.01);
  EXPECT_EQ(offsets(search), (std::vector<double>{0, -1, 1, -0.5, 0.5, -0.25, 0.25, -0.125, 0.125}));
  for (const Candidate& candidate : search.candidates()) EXPECT_EQ(candidate.fate, Fate::kReached);
}

// The paper's own searches differ by up to 0.5 in log10.
TEST(RateSearch, NoiseMovesTheWinnerByLittle) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SearchPlan plan = kPlan;
    plan.window = 5;
    const RoundOf clean = convex(-1.8);
    const RateSearch search = searched(plan, [&](double value, uint32_t round) {
      CandidateRound result = clean(value, round);
      Random random({.seed = seed, .round = round, .client = static_cast<uint32_t>(value * 1e6)});
      result.accuracy += 0.03 * random.normal();
      return result;
    });
    EXPECT_NEAR(std::log10(winner(search)), -1.8, 0.5) << seed;
  }
}

TEST(RateSearch, BesideACliffTheBestIsJustBelowIt) {
  for (const double start : {0.001, 0.01, 0.1, 1.0}) {
    SearchPlan plan = kPlan;
    plan.start = start;
    const RoundOf faster = reaching_after([](double at) { return 20 - 10 * at; });
    const RateSearch diverging = searched(plan, [&](double value, uint32_t round) {
      return value > 0.02 ? CandidateRound{kNan, kNan, kBytesARound} : faster(value, round);
    });
    EXPECT_NEAR(std::log10(winner(diverging)), std::log10(0.02), 0.2) << start;
    const RateSearch hopeless = searched(plan, [&](double value, uint32_t round) {
      return value > 0.02 ? CandidateRound{0.016, 9.0, kBytesARound} : faster(value, round);
    });
    EXPECT_EQ(winner(hopeless), winner(diverging)) << "whichever way the rates beyond it are lost";
    for (const Candidate& candidate : hopeless.candidates())
      EXPECT_EQ(candidate.fate == Fate::kHopeless, candidate.value > 0.02);
  }
}

TEST(RateSearch, TheCostIsThePapersFormula) {
  for (double best = -2.45; best < -1.5; best += 0.1) {
    const RateSearch search = searched(kPlan, convex(best));
    const auto& steps = search.steps();
    ASSERT_EQ(steps.size(), 4u) << "no move outward";
    const uint64_t won = search.candidates()[*search.best()].round_count();
    const uint64_t formula = 3 * steps[0].rounds + 2 * (steps[1].rounds + steps[2].rounds + steps[3].rounds);
    EXPECT_EQ(search.cost().formula, formula - won);
    EXPECT_EQ(search.cost().rounds, search.cost().formula);
    EXPECT_EQ(search.cost().bytes, search.cost().formula * kBytesARound);
    EXPECT_EQ(search.cost().spared, 0u);
    EXPECT_EQ(steps[3].rounds, won);
  }
}

TEST(RateSearch, WhatIsStoppedAsLostIsSparedOfTheFormula) {
  const RoundOf clean = convex(-2.2);
  const RateSearch search = searched(kPlan, [&](double value, uint32_t round) {
    return value > 0.012 && round == 7 ? CandidateRound{kNan, kNan, kBytesARound} : clean(value, round);
  });
  EXPECT_GT(search.cost().spared, 0u);
  EXPECT_EQ(search.cost().rounds + search.cost().spared, search.cost().formula);
  const RateSearch outward = searched(kPlan, convex(0.7));
  EXPECT_EQ(outward.cost().rounds, outward.cost().formula) << "moves outward are counted by it too";
}

TEST(RateSearch, CandidatesRunInLockStepUntilOneArrives) {
  const RateSearch search = searched(kPlan, convex(-2));
  for (const Candidate& candidate : search.candidates()) {
    EXPECT_EQ(candidate.round_count(), 20u);
    EXPECT_EQ(candidate.fate, candidate.value == 0.01 ? Fate::kReached : Fate::kOvertaken);
  }
}

TEST(RateSearch, TheTargetIsForTheMeanOverTheWindow) {
  SearchPlan plan = kPlan;
  plan.window = 4;
  const RateSearch search = searched(plan, [](double, uint32_t round) {
    return CandidateRound{round == 2 || round >= 6 ? 0.3 : 0.0, 1.0, kBytesARound};
  });
  EXPECT_EQ(search.candidates()[0].round_count(), 9u) << "rounds 6 to 9";
  plan.target = 1e-9;
  EXPECT_EQ(searched(plan, convex(-2)).candidates()[0].round_count(), 4u) << "no mean before there is one";
}

TEST(RateSearch, TiesGoToTheMoreAccurateThenToTheFirst) {
  const auto with_last = [](double last_accuracy) {
    return searched(kPlan, [=](double value, uint32_t round) {
      return CandidateRound{round < 9 ? 0.0 : value == 0.1 ? last_accuracy : 0.3, 1.0, kBytesARound};
    });
  };
  EXPECT_EQ(winner(with_last(0.30)), 0.01);
  EXPECT_EQ(winner(with_last(0.31)), 0.1);
}

TEST(RateSearch, AtTheEdgeItMovesOutward) {
  for (const double best : {-5.0, 1.3}) {
    const RateSearch search = searched(kPlan, convex(best));
    EXPECT_NEAR(std::log10(winner(search)), best, 0.07);
    EXPECT_EQ(search.steps()[1].kind, SearchStep::Kind::kOutward);
    EXPECT_EQ(search.steps()[1].candidates, 1u) << "the other side is known";
    EXPECT_EQ(search.steps().back().kind, SearchStep::Kind::kRefine);
  }
}

TEST(RateSearch, MovesOutwardAreBounded) {
  const RoundOf ever_faster = reaching_after([](double at) { return 200 - 10 * at; });
  for (const uint32_t outward : {0u, 1u, 4u}) {
    SearchPlan plan = kPlan;
    plan.outward = outward;
    const RateSearch search = searched(plan, ever_faster);
    EXPECT_EQ(search.candidates().size(), 9u + outward);
    EXPECT_NEAR(std::log10(winner(search)), -0.125 + outward, 1e-3) << "refined upwards from there";
  }
}

TEST(RateSearch, WhenNobodyReachesTheTargetTheMostAccurateIsNamed) {
  SearchPlan plan = kPlan;
  plan.max_rounds = 15;  // the best needs 20
  const RateSearch inside = searched(plan, convex(-2.1));
  EXPECT_EQ(inside.outcome(), RateSearch::Outcome::kNotReached);
  EXPECT_EQ(inside.candidates()[*inside.best()].value, 0.01);
  EXPECT_EQ(inside.candidates().size(), 3u) << "no refinement can tell more";
  for (const Candidate& candidate : inside.candidates()) EXPECT_EQ(candidate.fate, Fate::kTooSlow);
  EXPECT_EQ(inside.cost().rounds, 45u);

  const RateSearch outside = searched(plan, convex(0.2));
  EXPECT_EQ(outside.outcome(), RateSearch::Outcome::kNotReached);
  EXPECT_EQ(outside.candidates()[*outside.best()].value, 1.0) << "it followed the accuracy outward";

  const RoundOf slow = convex(-2.1);
  const RateSearch beside_a_cliff = searched(plan, [&](double value, uint32_t round) {
    return value > 0.002 ? CandidateRound{kNan, kNan, kBytesARound} : slow(value, round);
  });
  EXPECT_EQ(beside_a_cliff.outcome(), RateSearch::Outcome::kNotReached);
  EXPECT_EQ(beside_a_cliff.candidates().size(), 3u) << "even lower is even slower";
}

TEST(RateSearch, WhenAllAreLostItMovesDownAndAtLastGivesUp) {
  const RateSearch search = searched(kPlan, [](double, uint32_t) {
    return CandidateRound{kNan, kNan, kBytesARound};
  });
  EXPECT_EQ(search.outcome(), RateSearch::Outcome::kAllLost);
  EXPECT_FALSE(search.best());
  EXPECT_EQ(offsets(search), (std::vector<double>{0, -1, 1, -2, -3, -4, -5}));
  EXPECT_EQ(search.cost().rounds, 7u);
}

TEST(RateSearch, HopelessIsAWholeWindowOfLossesFarAboveGuessing) {
  SearchPlan plan = kPlan;
  plan.window = 3;
  const auto fate_with = [&](const std::vector<double>& losses) {
    RateSearch search(plan);
    for (const double loss : losses) {
      one_round(search, [&](double value, uint32_t) {
        return CandidateRound{0.1, value == 0.1 ? loss : 1.0, kBytesARound};
      });
    }
    return search.candidates()[2].fate;
  };
  EXPECT_EQ(fate_with({100, 100}), Fate::kRunning) << "no window yet";
  EXPECT_EQ(fate_with({100, 100, 100}), Fate::kHopeless);
  EXPECT_EQ(fate_with({16, 2, 2, 2}), Fate::kRunning) << "a bad start";
  EXPECT_EQ(fate_with({4.2, 4.2, 4.2, 4.2}), Fate::kRunning) << "slow";
  EXPECT_EQ(fate_with({4.2, 4.2, kNan}), Fate::kDiverged);
}

TEST(RateSearch, ASettingIsNeverWhatItCannotBe) {
  SearchPlan plan = kPlan;
  plan.start = 2;
  plan.whole = true;
  plan.low = 1;
  plan.high = 15;
  const RateSearch search = searched(plan, convex(std::log10(5.0)));
  std::vector<double> values;
  for (const Candidate& candidate : search.candidates()) values.push_back(candidate.value);
  EXPECT_EQ(values, (std::vector<double>{2, 1, 6, 4, 11, 5, 8})) << "20 is too many; 6.3 is 6";
  EXPECT_EQ(winner(search), 5);
}

TEST(RateSearch, WhatWasToldAgainGivesTheSameSearch) {
  const RateSearch whole = searched(kPlan, convex(-0.4));
  for (uint32_t broken_off = 1; broken_off < 120; broken_off += 7) {
    RateSearch first(kPlan);
    for (uint32_t i = 0; i < broken_off; ++i) one_round(first, convex(-0.4));
    RateSearch second(kPlan);
    const auto heard = [&](double value, uint32_t round) {
      for (const Candidate& candidate : first.candidates()) {
        if (candidate.value == value && candidate.round_count() >= round) return candidate.rounds[round - 1];
      }
      return convex(-0.4)(value, round);
    };
    while (!second.running().empty()) one_round(second, heard);
    EXPECT_EQ(winner(second), winner(whole));
    EXPECT_EQ(second.cost().rounds, whole.cost().rounds);
  }
}

std::string complaint(const std::vector<std::pair<std::string, std::string>>& settings,
                      uint32_t classes = 62) {
  Config config;
  try {
    for (const auto& [name, value] : settings) set(config, name, value);
    validate(config);
    make_search_plan(config, classes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(SearchPlan, DefaultsAreThePapers) {
  Config config;
  validate(config);
  const SearchPlan plan = make_search_plan(config, 62);
  EXPECT_EQ(plan.start, 0.01);
  EXPECT_EQ(plan.delta, 1);
  EXPECT_EQ(plan.steps, 3u);
  EXPECT_DOUBLE_EQ(plan.target, 20.0 / 62);
  EXPECT_EQ(plan.max_rounds, 500u);
  EXPECT_DOUBLE_EQ(plan.guess_loss, std::log(62.0));
}

TEST(SearchPlan, AnyNumberThatDecidesHowAModelLearnsCanBeSearched) {
  Config config;
  set(config, "tune.parameter", "round.client_lr");
  EXPECT_FLOAT_EQ(static_cast<float>(make_search_plan(config, 62).start), 0.035f);
  set(config, "tune.parameter", "round.epochs");
  EXPECT_TRUE(make_search_plan(config, 62).whole);
  EXPECT_EQ(make_search_plan(config, 62).low, 1);
  for (const char* name :
       {"code.family", "run.rounds", "round.shuffle", "tune.steps", "code.layers.conv2.keep"}) {
    EXPECT_NE(complaint({{"tune.parameter", name}}).find("is no number that decides"), std::string::npos)
        << name;
  }
  EXPECT_NE(complaint({{"tune.parameter", "server.rl"}}).find("nearest: server.lr"), std::string::npos);
}

TEST(SearchPlan, WhatCannotBeFollowedIsOneLine) {
  EXPECT_EQ(complaint({{"tune.target", "0.3"}}), "none");
  EXPECT_EQ(complaint({{"tune.target", "2.5x"}}), "none");
  EXPECT_EQ(complaint({{"tune.target", "many"}}),
            "tune.target: must be an accuracy like 0.3, or a multiple of chance like \"20x\"");
  EXPECT_EQ(complaint({{"tune.target", "-1x"}}), complaint({{"tune.target", "many"}}));
  EXPECT_EQ(complaint({{"tune.target", "1.5"}}), "tune.target: 1.5 is not between 0 and 1");
  EXPECT_EQ(complaint({{"tune.target", "20x"}}, 10),
            "tune.target: an accuracy of 2 among 10 classes is not above 0 and at most 1");
  EXPECT_EQ(complaint({{"tune.max_rounds", "3"}}),
            "tune.window: 5 rounds are more than the 3 of tune.max_rounds");
  EXPECT_EQ(complaint({{"tune.max_rounds", "501"}}),
            "tune.max_rounds: 501 rounds are more than the 500 of run.rounds");
  EXPECT_NE(complaint({{"tune.start", "1e7"}}).find("tune.start: "), std::string::npos);
  EXPECT_NE(complaint({{"tune.parameter", "round.epochs"}, {"tune.start", "1.5"}}).find("whole number"),
            std::string::npos);
  EXPECT_NE(complaint({{"tune.parameter", "data.min_samples"}}).find("tune.start: 0 "), std::string::npos);
}

TEST(RateSearch, OfEquallyFastCandidatesTheMoreAccurateOrTheFirstWins) {
  // All reach the target in their tenth round; a higher value with more to spare.
  const RoundOf equal = [](double value, uint32_t round) {
    return CandidateRound{round < 10 ? 0.1 : kPlan.target + 0.01 * (3 + std::log10(value)), 1.0,
                          kBytesARound};
  };
  SearchPlan plan = kPlan;
  plan.steps = plan.outward = 0;
  EXPECT_NEAR(winner(searched(plan, equal)), 0.1, 1e-9);
  plan.first_wins = true;
  EXPECT_NEAR(winner(searched(plan, equal)), 0.01, 1e-9);
}

}  // namespace
}  // namespace subfleet
