#include "model/ensemble.h"

#include <gtest/gtest.h>

#include "model/random_models_testing.h"
#include "nn/network_testing.h"
#include "nn/reference/network.h"
#include "nn/trainer_testing.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Weights that differ from member to member, biases too.
std::vector<std::vector<float>> some_members(const ModelSpec& model, size_t count) {
  std::vector<std::vector<float>> members;
  for (size_t member = 0; member < count; ++member) {
    members.push_back(initial_weights(model, member));
    Random random({.seed = 13, .client = static_cast<uint32_t>(member)});
    for (float& weight : members.back()) weight += static_cast<float>(random.uniform(-0.1, 0.1));
  }
  return members;
}

std::vector<float> logits_of(const ModelSpec& model, const std::vector<float>& weights,
                             const Examples& examples) {
  std::vector<float> logits(examples.count() * class_count(model));
  reference::make_network(model)->infer(weights, examples.inputs, logits);
  return logits;
}

std::vector<double> mean_logits(const ModelSpec& model, const std::vector<std::vector<float>>& members,
                                const Examples& examples) {
  std::vector<double> mean(examples.count() * class_count(model));
  for (const std::vector<float>& member : members) {
    const std::vector<float> logits = logits_of(model, member, examples);
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += static_cast<double>(logits[i]) / static_cast<double>(members.size());
  }
  return mean;
}

// The zoo's shapes in small, without weights at the beginning, with one layer of weights, with a mean at the
// end and with a ReLU there; graphs; then anything.
std::vector<ModelSpec> models_to_join() {
  std::vector<ModelSpec> models{small_cnn(),
                                {"linear", {6, 1, 1}, {{.type = "dense", .name = "d1", .units = 4}}},
                                {"pooled-first",
                                 {2, 6, 6},
                                 {{.type = "relu"},
                                  {.type = "maxpool", .kernel = 2},
                                  {.type = "conv2d", .name = "c1", .units = 6, .kernel = 3, .stride = 2},
                                  {.type = "flatten"},
                                  {.type = "dense", .name = "d1", .units = 3}}},
                                {"mean-last",
                                 {3, 9, 8},
                                 {{.type = "conv2d", .name = "c1", .units = 5, .kernel = 3},
                                  {.type = "relu"},
                                  {.type = "conv2d", .name = "c2", .units = 4, .kernel = 1},
                                  {.type = "avgpool"}}}};
  models.push_back(small_cnn());
  models.back().layers.push_back({.type = "relu"});
  models.push_back(small_char_lstm());
  for (ModelSpec graph : small_graphs()) {
    graph.name = "graph";
    models.push_back(std::move(graph));
  }
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ModelSpec model = random_model(seed);
    models.push_back(model);
  }
  return models;
}

TEST(Ensemble, AnswersWithTheMeanOfItsMembers) {
  const std::vector<ModelSpec> models = models_to_join();
  EXPECT_GT(models.size(), 15u);
  for (const ModelSpec& model : models) {
    for (const size_t count : {1, 2, 3}) {
      SCOPED_TRACE(model_toml(model) + "members: " + std::to_string(count));
      const std::vector<std::vector<float>> members = some_members(model, count);
      const Ensemble ensemble = make_ensemble(model, members);
      const Examples examples = random_examples(model, 5, 40);
      const std::vector<float> actual = logits_of(ensemble.model, ensemble.weights, examples);
      const std::vector<double> expected = mean_logits(model, members, examples);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], 1e-5 * std::max(1.0, std::abs(expected[i])));
      if (count == 1) {
        EXPECT_EQ(ensemble.weights, members[0]);
      }
    }
  }
}

TEST(Ensemble, EveryTrainerTestsIt) {
  const ModelSpec model = small_cnn();
  const std::vector<std::vector<float>> members = some_members(model, 3);
  const Ensemble ensemble = make_ensemble(model, members);
  ReadyExamples source;
  source.test = random_examples(model, 150, 41);
  const std::vector<double> mean = mean_logits(model, members, source.test);
  const std::vector<float> logits(mean.begin(), mean.end());
  const Score expected = softmax_cross_entropy(logits, source.test.labels, {});
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const Evaluation actual =
        evaluate(*make_trainer(name, pool, source), ensemble.model, ensemble.weights, 150);
    EXPECT_EQ(actual.correct, expected.correct) << name;
    EXPECT_NEAR(actual.mean_loss(), expected.loss / 150, name.ends_with("tf32") ? 1e-3 : 1e-5) << name;
  }
}

std::string complaint(const ModelSpec& model, const std::vector<std::vector<float>>& members) {
  try {
    make_ensemble(model, members);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Ensemble, WhatCannotBeJoinedIsOneLine) {
  const ModelSpec model = small_cnn();
  EXPECT_EQ(complaint(model, {}), "ensemble: of no models");
  std::vector<std::vector<float>> members = some_members(model, 2);
  members[1].pop_back();
  EXPECT_NE(complaint(model, members).find("ensemble: member 2 has "), std::string::npos);
}

}  // namespace
}  // namespace subfleet
