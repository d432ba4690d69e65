#include "nn/client_steps_testing.h"
#include "nn/trainer_testing.h"

namespace subfleet {
namespace {

constexpr LocalTraining kPlain{.epochs = 2, .batch = 10, .client_lr = 0.2f};

void expect_rounds_of_reference(bool rescale, const LocalTraining& how = kPlain, double tolerance = 5e-5) {
  for (const auto& [model, name] : small_droppable_models_by_trainer()) {
    if (name != "cpu") continue;
    const SmallRound round(model, rescale);
    ThreadPool pool(2);
    const auto [results, actual] = round.train(*make_trainer("cpu", pool, round.examples), how);
    const auto [expected_results, expected] =
        round.train(*make_trainer("reference", pool, round.examples), how);

    std::vector<double> actual_means(actual.size()), expected_means(actual.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual.held(i), expected.held(i));
      actual_means[i] = actual.mean(i);
      expected_means[i] = expected.mean(i);
    }
    expect_close_tensors(round.model, actual_means, expected_means, tolerance);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].examples, expected_results[i].examples);
      EXPECT_EQ(results[i].accuracy, expected_results[i].accuracy);
      EXPECT_NEAR(results[i].loss, expected_results[i].loss, 1e-5);
    }
  }
}

TEST(CpuTrainer, AgreesWithReferenceOverAWholeRound) { expect_rounds_of_reference(false); }

TEST(CpuTrainer, AgreesWithReferenceOverAWholeRescaledRound) { expect_rounds_of_reference(true); }

TEST(CpuTrainer, AgreesWithReferenceBeyondPlainSgd) {
  // Momentum carries a step's rounding on.
  for (const LocalTraining& how : trainings_beyond_plain_sgd()) expect_rounds_of_reference(false, how, 2e-4);
}

}  // namespace
}  // namespace subfleet
