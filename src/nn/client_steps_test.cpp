#include "nn/client_steps.h"

#include <gtest/gtest.h>

#include <vector>

#include "nn/client_steps_testing.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

constexpr size_t kWeights = 67, kSteps = 12;  // no multiple of any vector's width

// Weights and gradients from -1 to 1.
std::vector<float> random_values(uint32_t which) {
  Random random({.seed = 1, .round = which, .client = 0, .purpose = Purpose::kInitialWeights});
  std::vector<float> values(kWeights);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

void step_plainly(std::vector<float>& weights, uint32_t step, float lr) {
  const std::vector<float> gradient = random_values(100 + step);
  for (size_t i = 0; i < kWeights; ++i) weights[i] -= lr * gradient[i];
}

std::vector<float> stepped(ClientSteps& steps, const LocalTraining& how) {
  std::vector<float> weights = random_values(0);
  steps.begin(how, weights);
  for (uint32_t step = 0; step < kSteps; ++step) {
    step_plainly(weights, step, how.client_lr);
    steps.finish(weights);
  }
  return weights;
}

TEST(ClientSteps, AreThoseOfPyTorchsSgdAndFedProx) {
  ClientSteps steps;
  for (const LocalTraining& how : trainings_beyond_plain_sgd()) {
    const std::vector<float> given = random_values(0), actual = stepped(steps, how);
    SgdInDoubles expected(given);
    for (uint32_t step = 0; step < kSteps; ++step) {
      const std::vector<float> gradient = random_values(100 + step);
      expected.step(how, {gradient.begin(), gradient.end()});
    }
    for (size_t i = 0; i < kWeights; ++i) EXPECT_NEAR(actual[i], expected.weights()[i], 3e-6) << i;
  }
}

TEST(ClientSteps, PlainStepsStayAsTheyAre) {
  const LocalTraining plain{.client_lr = 0.1f};
  std::vector<float> expected = random_values(0);
  for (uint32_t step = 0; step < kSteps; ++step) step_plainly(expected, step, plain.client_lr);
  ClientSteps steps;
  stepped(steps, trainings_beyond_plain_sgd().back());
  EXPECT_EQ(stepped(steps, plain), expected);
}

TEST(ClientSteps, AJobBeginsWithoutTheOneBefore) {
  ClientSteps steps;
  for (const LocalTraining& how : trainings_beyond_plain_sgd()) {
    const std::vector<float> used = stepped(steps, how);
    ClientSteps fresh;
    EXPECT_EQ(used, stepped(fresh, how));
  }
}

}  // namespace
}  // namespace subfleet
