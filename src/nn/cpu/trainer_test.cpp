#include "nn/trainer_testing.h"

namespace subfleet {
namespace {

TEST(CpuTrainer, AgreesWithReferenceOverAWholeRound) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    ThreadPool pool(2);
    const LocalTraining how{.epochs = 2, .batch = 10, .client_lr = 0.2f};
    PartialSum actual(round.weights.size()), expected(round.weights.size());
    const std::vector<JobReport> reports = round.train(*make_trainer("cpu", pool), how, actual);
    const std::vector<JobReport> expected_reports =
        round.train(*make_trainer("reference", pool), how, expected);

    std::vector<double> actual_means(actual.size()), expected_means(actual.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual.held(i), expected.held(i));
      actual_means[i] = actual.mean(i);
      expected_means[i] = expected.mean(i);
    }
    expect_close_tensors(round.model, actual_means, expected_means, 5e-5);
    for (size_t i = 0; i < reports.size(); ++i) {
      EXPECT_EQ(reports[i].examples, expected_reports[i].examples);
      EXPECT_EQ(reports[i].accuracy, expected_reports[i].accuracy);
      EXPECT_NEAR(reports[i].loss, expected_reports[i].loss, 1e-5);
    }
  }
}

}  // namespace
}  // namespace subfleet
