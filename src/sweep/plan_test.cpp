#include "subfleet/sweep/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr auto kSweep = R"toml(
title = "Three ways"
seeds = [3, 1]
baseline = "None, F32"
target = 0.9
last_rounds = 20
[settings]
round.clients = 7
[settings.code]
family = "gold"
keep = 0.5
[[run]]
name = "None, F32"
[run.settings.code]
family = "none"
[[run]]
name = "gold (rot4)"
settings = { wire = { down = "rot4" }, server = { lr = 0.02 } }
)toml";

SweepPlan parse(const std::string& text) {
  return parse_sweep(text, "s.toml", [](Config&) {});
}

std::string fault(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "nothing is wrong";
}

void expect_fault(const std::string& text, const std::string& containing) {
  EXPECT_NE(fault(text).find(containing), std::string::npos) << fault(text);
}

TEST(SweepPlan, EveryRunHasTheCommonSettingsAndItsOwn) {
  const SweepPlan plan = parse(kSweep);
  EXPECT_EQ(plan.title, "Three ways");
  EXPECT_EQ(plan.seeds, (std::vector<uint64_t>{3, 1}));
  EXPECT_EQ(plan.baseline, 0u);
  EXPECT_EQ(plan.target, 0.9);
  EXPECT_EQ(plan.last_rounds, 20u);
  ASSERT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(plan.runs[0].config.code.family, "none");
  EXPECT_EQ(plan.runs[1].config.code.family, "gold");
  EXPECT_EQ(plan.runs[0].config.wire.down, "f32");
  EXPECT_EQ(plan.runs[1].config.wire.down, "rot4");
  EXPECT_EQ(plan.runs[1].config.server.lr, 0.02);
  for (const SweepRun& run : plan.runs) EXPECT_EQ(run.config.round.clients, 7u);
  EXPECT_EQ(plan.folder(1, 3), "gold-rot4-3");
  EXPECT_EQ(plan.config(1, 3).run.seed, 3u);
}

TEST(SweepPlan, AGridMultipliesEveryRunAndNamesIt) {
  const SweepPlan plan = parse(std::string(kSweep).replace(std::string(kSweep).find("baseline"), 22, "") +
                               "[grid]\n\"server.lr\" = [0.01, 0.03]\ncode.rescale = [true, false]\n");
  ASSERT_EQ(plan.runs.size(), 8u);
  EXPECT_EQ(plan.runs[0].name, "None, F32, code.rescale=true, server.lr=0.01");
  EXPECT_EQ(plan.runs[7].name, "gold (rot4), code.rescale=false, server.lr=0.03");
  EXPECT_EQ(plan.runs[7].config.server.lr, 0.03) << "the grid is over the run's own";
  EXPECT_TRUE(plan.runs[0].config.code.rescale);
  EXPECT_EQ(plan.folder(7, 1), "gold-rot4-code.rescale-false-server.lr-0.03-1");
}

TEST(SweepPlan, AGridAloneIsEnough) {
  const SweepPlan plan = parse("seeds = [1]\n[grid]\ncode.family = [\"none\", \"gold\"]\n");
  ASSERT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(plan.runs[1].name, "code.family=gold");
  EXPECT_EQ(plan.runs[1].config.code.family, "gold");
  EXPECT_FALSE(plan.baseline);
}

TEST(SweepPlan, AChangeIsMadeToAllRunsBeforeTheyAreChecked) {
  const SweepPlan plan =
      parse_sweep(kSweep, "s.toml", [](Config& config) { set(config, "run.rounds", "9"); });
  for (const SweepRun& run : plan.runs) EXPECT_EQ(run.config.run.rounds, 9u);
  EXPECT_THROW(parse_sweep(kSweep, "s.toml", [](Config& config) { set(config, "wire.up", "rot9"); }), Error);
}

TEST(SweepPlan, SaysWhatIsWrongWithAFile) {
  const std::string run = "[[run]]\nname = \"a\"\n";
  expect_fault(run, "s.toml: seeds: must be a list");
  expect_fault("seeds = [1, 1]\n" + run, "seeds: must be a list of different");
  expect_fault("seeds = [-1]\n" + run, "seeds");
  expect_fault("seeds = [1]\n", "there is none");
  expect_fault("seeds = [1]\nsead = 2\n" + run, "key of a sweep: unknown 'sead'; nearest: seeds");
  expect_fault("seeds = [1]\ntarget = 0\n" + run, "target");
  expect_fault("seeds = [1]\nlast_rounds = 0.5\n" + run, "last_rounds");
  expect_fault("seeds = [1]\nbaseline = \"b\"\n" + run, "baseline: unknown 'b'; nearest: a");
  expect_fault("seeds = [1]\n[run]\nname = \"a\"\n", "write [[run]]");
  expect_fault("seeds = [1]\n[[run]]\n", "needs a name");
  expect_fault("seeds = [1]\n" + run + "lr = 1\n", "key of a run: unknown 'lr'");
  expect_fault("seeds = [1]\n" + run + "drawn = 1\n", "drawn: must be true or false");
  expect_fault("seeds = [1]\n" + run + "members = 1\n", "members: must be a whole number from 2 to 100");
  expect_fault("seeds = [1]\n" + run + "members = 2.5\n", "members: must be a whole number");
  expect_fault("seeds = [1]\n" + run + "[[run]]\nname = \"A\"\n", "not the only run");
  expect_fault("seeds = [1]\n" + run + "[grid]\n\"server.lr\" = 0.1\n", "grid: server.lr: must be a list");
  expect_fault("seeds = [1\n", "s.toml: line ");
}

TEST(SweepPlan, NamesTheRunWhoseSettingsAreWrong) {
  const auto with_settings = [](const std::string& settings) {
    return fmt::format("seeds = [1]\n[[run]]\nname = \"a\"\n[[run]]\nname = \"b\"\nsettings = {{ {} }}\n",
                       settings);
  };
  expect_fault(with_settings("server = { rl = 1 }"),
               "s.toml: run 'b': setting: unknown 'server.rl'; nearest: server.lr");
  expect_fault(with_settings("code = { family = 'glod' }"), "s.toml: run 'b': ");
  expect_fault(with_settings("code = { family = 5 }"), "run 'b': code.family: must be a text");
  expect_fault(with_settings("run = { seed = 5 }"), "run 'b': run.seed: the list 'seeds' says");
}

TEST(SweepPlan, EstimatesTheBytesOfARound) {
  const SweepPlan plan = parse(R"(
seeds = [1]
[settings]
round.clients = 35
[[run]]
name = "none"
settings.code.family = "none"
[[run]]
name = "half"
settings.code.family = "gold"
)");
  EXPECT_EQ(estimated_bytes(plan.runs[0].config), 35u * 2 * 4 * 6'603'710);
  EXPECT_EQ(estimated_bytes(plan.runs[1].config), 35u * 2 * 4 * 1'696'670);
}

}  // namespace
}  // namespace subfleet
