#include "subfleet/work/reproduction.h"

#include <gtest/gtest.h>

#include "subfleet/base/file.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/work/experiment_library.h"
#include "temporary_folder.h"
#include "tiny_glyphs.h"

namespace subfleet {
namespace {

class Recorder final : public ReproductionObserver {
 public:
  void on_start(const GroupStart& group) override { titles.push_back(group.title); }
  void on_round(const RoundLine&) override { ++rounds; }
  void on_note(const std::string&) override {}
  void on_end() override {}
  void on_searched(const Searched& searched) override { searches.push_back(searched.title); }
  void on_ensemble(const std::string&, const std::optional<Evaluation>& test) override {
    ensembles.push_back(test.has_value());
  }
  void on_experiment(const Experiment& experiment, const ExperimentResult&) override {
    experiments.push_back(experiment.name);
  }

  std::vector<std::string> titles, searches, experiments;
  std::vector<bool> ensembles;
  size_t rounds = 0;
};

constexpr auto kSettings = R"(
[settings]
data.writers = 10
round = { clients = 4, client_lr = 0.2 }
server.optimizer = "fedadam"
run = { rounds = 2, eval_every = 1 }
tune = { target = "1.2x", window = 1, steps = 1, outward = 0, max_rounds = 2 }
[[run]]
name = "none"
settings.code.family = "none"
)";

// A folder with a search, and an ensemble beyond the paper.
std::filesystem::path two_experiments(const TemporaryFolder& folder) {
  const std::string model = "model.file = '" + tiny_model() + "'\n";
  const auto write = [&](const char* part, const char* name, const std::string& head,
                         const std::string& end) {
    std::string settings = kSettings;
    settings.insert(settings.find("data."), model);
    make_folder(folder / "e" / part);
    write_file(folder / "e" / part / name, head + settings + end);
  };
  write("paper", "search.toml", "title = \"S\"\nkind = \"searches\"\nseeds = [1]\n",
        "[[value]]\nrun = \"none\"\nmeasure = \"rounds\"\n");
  write("beyond", "both.toml", "title = \"B\"\nseeds = [1]\nlast_rounds = 1\n", "members = 2\n");
  return folder / "e";
}

Reproduction reproduction_of(const std::filesystem::path& experiments, const std::filesystem::path& out) {
  ExperimentLibrary library(experiments, [](Config&) {});
  return {library.choose({"all", "beyond"}),
          library.names(),
          {.out = out, .device = "reference", .threads = 1, .together = 2}};
}

TEST(Reproduction, MakesWhatIsMissingOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path experiments = two_experiments(folder), out = folder / "o";
  {
    Reproduction work = reproduction_of(experiments, out);
    Recorder seen;
    EXPECT_TRUE(work.make_all(seen, [] { return false; }));
    EXPECT_EQ(seen.experiments, (std::vector<std::string>{"search", "both"}));
    EXPECT_EQ(seen.searches.size(), 1u);
    EXPECT_EQ(seen.ensembles, std::vector<bool>{true});
    EXPECT_EQ(work.agreements().size(), 2u);
  }
  EXPECT_FALSE(read_file(out / Reproduction::kTable).empty());
  const std::string results = read_file(out / Reproduction::kResults);
  Reproduction again = reproduction_of(experiments, out);
  Recorder seen;
  EXPECT_TRUE(again.make_all(seen, [] { return false; }));
  EXPECT_TRUE(seen.titles.empty());
  EXPECT_EQ(read_file(out / Reproduction::kResults), results);
}

TEST(Reproduction, StoppedItGoesOn) {
  const TemporaryFolder folder;
  const std::filesystem::path experiments = two_experiments(folder);
  {
    Reproduction work = reproduction_of(experiments, folder / "o");
    Recorder seen;
    EXPECT_FALSE(work.make_all(seen, [&] { return seen.searches.size() == 1 && seen.titles.size() == 2; }));
    EXPECT_EQ(seen.experiments, std::vector<std::string>{"search"});
  }
  Recorder rest, whole;
  Reproduction work = reproduction_of(experiments, folder / "o");
  EXPECT_TRUE(work.make_all(rest, [] { return false; }));
  EXPECT_TRUE(rest.searches.empty());
  Reproduction other = reproduction_of(experiments, folder / "whole");
  EXPECT_TRUE(other.make_all(whole, [] { return false; }));
  EXPECT_EQ(read_file(folder / "o" / Reproduction::kResults),
            read_file(folder / "whole" / Reproduction::kResults));
}

Trial trial_of(ExperimentKind kind, uint32_t rounds) {
  Trial trial{.kind = kind, .name = "t", .config = tiny_glyphs(), .rates = {}};
  trial.config.run.rounds = rounds;
  return trial;
}

TEST(WorkLeft, CountsWhatIsNotBegun) {
  WorkLeft left(2);
  const std::vector<Trial> runs{trial_of(ExperimentKind::kRuns, 10), trial_of(ExperimentKind::kRuns, 10)};
  const std::vector<Trial> searches{trial_of(ExperimentKind::kSearches, 0)};
  left.count(0, runs);
  left.count(1, searches);
  EXPECT_EQ(left.trials(), 3u);
  EXPECT_EQ(left.begin(0, runs), 20u);
  EXPECT_EQ(left.trials(), 1u);
  const uint32_t guess = left.begin(1, searches);
  EXPECT_GT(guess, 0u);
  left.searched(1, 1, 30);
  left.count(1, searches);
  EXPECT_EQ(left.begin(1, searches), 30u) << "the mean of those that are done";
}

TEST(WorkLeft, TrialsThatDifferInTheirSeedsAreMadeTogether) {
  Trial one = trial_of(ExperimentKind::kRuns, 3), other = one;
  other.config.run.seed = 7;
  other.config.server.lr = 0.5;
  EXPECT_EQ(together_key(one), together_key(other));
  other.config.code.keep = 0.25;
  EXPECT_NE(together_key(one), together_key(other));
  one.path = "a";
  one.members.resize(2);
  EXPECT_EQ(together_key(one), "a");
}

}  // namespace
}  // namespace subfleet
