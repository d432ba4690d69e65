#include "nn/trainer_testing.h"

namespace subfleet {
namespace {

void expect_rounds_of_reference(bool rescale) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model, rescale);
    ThreadPool pool(2);
    const LocalTraining how{.epochs = 2, .batch = 10, .client_lr = 0.2f};
    const auto [results, actual] = round.train(*make_trainer("cpu", pool, round.examples), how);
    const auto [expected_results, expected] =
        round.train(*make_trainer("reference", pool, round.examples), how);

    std::vector<double> actual_means(actual.size()), expected_means(actual.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual.held(i), expected.held(i));
      actual_means[i] = actual.mean(i);
      expected_means[i] = expected.mean(i);
    }
    expect_close_tensors(round.model, actual_means, expected_means, 5e-5);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].examples, expected_results[i].examples);
      EXPECT_EQ(results[i].accuracy, expected_results[i].accuracy);
      EXPECT_NEAR(results[i].loss, expected_results[i].loss, 1e-5);
    }
  }
}

TEST(CpuTrainer, AgreesWithReferenceOverAWholeRound) { expect_rounds_of_reference(false); }

TEST(CpuTrainer, AgreesWithReferenceOverAWholeRescaledRound) { expect_rounds_of_reference(true); }

}  // namespace
}  // namespace subfleet
