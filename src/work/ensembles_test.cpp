#include "subfleet/work/ensembles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/store/session.h"
#include "subfleet/work/training_session.h"
#include "temporary_folder.h"
#include "tiny_glyphs.h"

namespace subfleet {
namespace {

// Models with the seeds 1 to `count`, each trained for a round.
std::vector<TrainedModel> trained_models(uint64_t count) {
  ThreadPool pool(2);
  std::vector<TrainedModel> models;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    Config config = tiny_glyphs();
    config.run.seed = seed;
    LocalFleet fleet(open_split_federation(config.data), "reference", pool, 0);
    subfleet::Run run(config, fleet);
    run.step();
    models.push_back({.name = std::to_string(seed),
                      .model = run.model(),
                      .weights = {run.weights().begin(), run.weights().end()},
                      .data = config.data});
  }
  return models;
}

TEST(Ensembles, TakeAModelOutOfARunsFolder) {
  const TemporaryFolder folder;
  const Config config = tiny_glyphs();
  ThreadPool pool(2);
  LocalFleet fleet(open_split_federation(config.data), "reference", pool, 0);
  TrainingSession session(config, fleet, provenance_now(config, fleet, {}));
  session.write_to(folder / "run");
  const RunSummary begun = load_run(folder / "run");
  EXPECT_THROW(trained_model(begun, [](Config&) {}), Error) << "it is not trained";
  session.step();
  session.finish();
  const TrainedModel model = trained_model(load_run(folder / "run"), [](Config& one) {
    one.run.eval_samples = 5;
    one.data.test_fraction = 0.5;
  });
  EXPECT_EQ(model.name, "run");
  EXPECT_EQ(model.round, 1u);
  EXPECT_TRUE(std::ranges::equal(model.weights, session.run().weights()));
  EXPECT_EQ(model.eval_samples, 5u);
  EXPECT_EQ(model.data.test_fraction, 0.5);
}

TEST(Ensembles, JoinsOnlyModelsOfOneShapeAndTest) {
  std::vector<TrainedModel> models = trained_models(4);
  models[1].eval_samples = 5;
  models[3].model = find_model("emnist-mlp");
  const std::vector<JoinedModels> joined = join_models(models);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].members, (std::vector<size_t>{0, 2}));
}

TEST(Ensembles, TestsEveryModelAndTheirEnsemble) {
  std::vector<TrainedModel> models = trained_models(2);
  std::vector<JoinedModels> joined = join_models(models);
  ASSERT_EQ(joined.size(), 1u);
  ThreadPool pool(2);
  test_all(models, joined, "reference", pool);
  LocalFleet fleet(open_split_federation(models[0].data), "reference", pool, 0);
  for (const TrainedModel& one : models) {
    const Evaluation alone = test_model(fleet, one.model, one.weights);
    EXPECT_EQ(one.score.correct, alone.correct);
    EXPECT_GT(one.score.examples, 0u);
  }
  EXPECT_EQ(joined[0].score.examples, models[0].score.examples);
  // An ensemble of one model twice is that model.
  const std::vector<std::vector<float>> twice(2, models[0].weights);
  EXPECT_EQ(test_ensemble(fleet, models[0].model, twice).correct, models[0].score.correct);
}

TEST(Ensembles, WantTestExamples) {
  std::vector<TrainedModel> models = trained_models(1);
  models[0].data.test_fraction = 0;
  ThreadPool pool(1);
  EXPECT_THROW(test_all(models, {}, "reference", pool), Error);
}

}  // namespace
}  // namespace subfleet
