#include "nn/cpu/network.h"

#include <omp.h>

#include <limits>

#include "nn/network_testing.h"
#include "nn/reference/network.h"
#include "subfleet/layer_sites.h"
#include "subfleet/submodel.h"

namespace subfleet {
namespace {

// Every small model, and a rescaled sub-model of each.
std::vector<SubModel> small_submodels() {
  std::vector<SubModel> all = small_rescaled_submodels(small_models_and_graphs());
  for (const ModelSpec& model : small_models_and_graphs()) all.push_back(whole_model(model));
  return all;
}

std::unique_ptr<Network> network_of(const SubModel& submodel, const NetworkFactory& make_network) {
  auto network = make_network(submodel.spec());
  network->set_channel_groups(submodel.channel_groups());
  return network;
}

TEST(CpuNetwork, GradientsAgreeWithReference) {
  for (const SubModel& submodel : small_submodels()) {
    const ModelSpec& model = submodel.spec();
    const auto network =
        network_of(submodel, cpu::make_network);  // one for all sizes: their plans share memory
    const std::vector<float> weights = random_weights(model);
    for (const size_t batch : {10, 1, 3, 10}) {
      const Examples examples = random_examples(model, batch, 2);
      expect_close_tensors(model, gradient_of(*network, weights, examples),
                           gradient_of(*network_of(submodel, reference::make_network), weights, examples),
                           2e-5);
    }
  }
}

TEST(CpuNetwork, ScoresAndLogitsAgreeWithReference) {
  for (const SubModel& submodel : small_submodels()) {
    const ModelSpec& model = submodel.spec();
    const std::vector<float> weights = random_weights(model);
    const Examples examples = random_examples(model, 6, 3);
    const auto actual = network_of(submodel, cpu::make_network),
               expected = network_of(submodel, reference::make_network);
    std::vector<float> actual_logits(6 * class_count(model)), expected_logits(actual_logits.size());
    actual->infer(weights, examples.inputs, actual_logits);
    expected->infer(weights, examples.inputs, expected_logits);
    for (size_t i = 0; i < actual_logits.size(); ++i) {
      EXPECT_NEAR(actual_logits[i], expected_logits[i], 1e-5) << model.name;
    }
    std::vector<float> actual_weights = weights, expected_weights = weights;
    const Batch batch{examples.inputs, examples.labels};
    const Score actual_score = actual->train_step(actual_weights, batch, 0.1f);
    const Score expected_score = expected->train_step(expected_weights, batch, 0.1f);
    EXPECT_NEAR(actual_score.loss, expected_score.loss, 1e-5) << model.name;
    EXPECT_EQ(actual_score.correct, expected_score.correct) << model.name;
  }
}

TEST(CpuNetwork, HalfOfTheEmnistNetworkAgreesWithReference) {
  ModelSpec model = find_model("emnist-cnn");
  for (LayerSpec& layer : model.layers) {
    if (!layer.droppable) continue;
    layer.units /= 2;
    layer.output_scale = 2;
  }
  ASSERT_EQ(parameter_count(model), 1'696'670u);
  const std::vector<float> weights = random_weights(model);
  const Examples examples = random_examples(model, 2, 4);
  expect_close_tensors(model, gradient_of(*cpu::make_network(model), weights, examples),
                       gradient_of(*reference::make_network(model), weights, examples), 2e-5);
}

TEST(CpuNetwork, AQuarterOfAllCnnCAgreesWithReference) {
  ModelSpec model = find_model("allcnn-c");
  for (LayerSpec& layer : model.layers) layer.units = layer.droppable ? layer.units / 4 : layer.units;
  const std::vector<float> weights = random_weights(model);
  const Examples examples = random_examples(model, 1, 4);
  expect_close_tensors(model, gradient_of(*cpu::make_network(model), weights, examples),
                       gradient_of(*reference::make_network(model), weights, examples), 2e-5);
}

TEST(CpuNetwork, ASubModelComputesWhatTheWholeDoesWithTheDroppedUnitsAtZero) {
  for (const std::string& name : model_names()) {
    const ModelSpec model = find_model(name);
    if (std::ranges::any_of(model.layers, has_channel_groups))
      continue;  // they look at the kept channels alone
    std::vector<std::vector<uint32_t>> kept;
    for (const UnitGroup& group : droppable_groups(model)) {
      kept.emplace_back();
      for (uint32_t unit = kept.size() % 2; unit < group.units; unit += 2) kept.back().push_back(unit);
    }
    const SubModel half(model, kept);
    std::vector<float> held(half.size()), masked(parameter_count(model), 0.0f);
    half.gather(random_weights(model), held);
    half.scatter(held, masked);
    const Examples examples = random_examples(model, 2, 7);
    std::vector<float> actual(2 * class_count(model)), expected(actual.size());
    cpu::make_network(half.spec())->infer(held, examples.inputs, actual);
    cpu::make_network(model)->infer(masked, examples.inputs, expected);
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << name;
  }
}

TEST(CpuNetwork, HalfOfTheCharacterNetworkAgreesWithReference) {
  ModelSpec model = find_model("char-lstm");
  for (LayerSpec& layer : model.layers) layer.units = layer.droppable ? layer.units / 2 : layer.units;
  ASSERT_EQ(parameter_count(model), 213'849u);
  const std::vector<float> weights = random_weights(model);
  const Examples examples = random_examples(model, 2, 4);
  expect_close_tensors(model, gradient_of(*cpu::make_network(model), weights, examples),
                       gradient_of(*reference::make_network(model), weights, examples), 2e-5);
}

TEST(CpuNetwork, FirstOfEqualMaximaLearns) { expect_first_maximum_learns(cpu::make_network); }

TEST(CpuNetwork, LeavesTheCallersThreadSettingAlone) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  const ModelSpec model = small_models().front();
  std::vector<float> logits(class_count(model));
  cpu::make_network(model)->infer(random_weights(model), random_examples(model, 1, 5).inputs, logits);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

TEST(CpuNetwork, OneWeightThatIsNotANumberShowsInTheScoreAndInTheOthers) {
  for (const ModelSpec& model : small_models_and_graphs()) {
    std::vector<float> weights = random_weights(model);
    weights[weights.size() - class_count(model)] = std::numeric_limits<float>::quiet_NaN();
    const Examples examples = random_examples(model, 3, 6);
    const Score score =
        cpu::make_network(model)->train_step(weights, {examples.inputs, examples.labels}, 0.1f);
    EXPECT_TRUE(std::isnan(score.loss)) << model.name;
    EXPECT_EQ(score.correct, 0u) << model.name;
    EXPECT_TRUE(std::isnan(weights.back())) << model.name << ": the last class learns from the first";
  }
}

// Networks are kept and serve one client after another.
TEST(CpuNetwork, WeightsThatAreNotFiniteLeaveNothingBehind) {
  for (const ModelSpec& model : small_models_and_graphs()) {
    const std::vector<float> weights = random_weights(model);
    const Examples examples = random_examples(model, 3, 6);
    const Batch batch{examples.inputs, examples.labels};
    const auto used = cpu::make_network(model);
    std::vector<float> diverged(weights.size(), std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(used->train_step(diverged, batch, 0.1f).correct, 0u) << model.name;
    std::vector<float> actual = weights, expected = weights;
    used->train_step(actual, batch, 0.1f);
    cpu::make_network(model)->train_step(expected, batch, 0.1f);
    EXPECT_EQ(actual, expected) << model.name;
  }
}

}  // namespace
}  // namespace subfleet
