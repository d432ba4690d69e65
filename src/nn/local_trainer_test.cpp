#include "nn/local_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/reference/network.h"
#include "nn/trainer_testing.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr LocalTraining kTwoEpochs{.epochs = 2, .batch = 10, .client_lr = 0.05f};

void expect_equal(const std::vector<JobReport>& a, const std::vector<JobReport>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].examples, b[i].examples);
    EXPECT_EQ(a[i].loss, b[i].loss);
    EXPECT_EQ(a[i].accuracy, b[i].accuracy);
    EXPECT_EQ(a[i].diverged, b[i].diverged);
  }
}

// The mean update of a round in which every weight was held by one client.
std::vector<double> means(const PartialSum& sum) {
  std::vector<double> result(sum.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = sum.mean(i);
  return result;
}

// One client that holds the whole model.
struct OneClient {
  ModelSpec model = small_cnn();
  std::vector<float> weights = random_weights(model);
  SubModel whole = whole_model(model);
  Examples examples = random_examples(model, 7, 1);
  RandomKey order{.seed = 4, .round = 2, .client = 9};

  JobReport train(Trainer& trainer, const LocalTraining& how, PartialSum& sum) const {
    const Job job{.client = 9, .submodel = &whole, .batch_order = order};
    return trainer
        .train(
            weights, {&job, 1}, [this](uint32_t, Examples& into) { into = examples; }, how, sum)
        .front();
  }

  // Steps by hand through the examples in that order; adds to the score.
  std::vector<double> update_by_hand(const std::vector<std::vector<uint32_t>>& batches, float lr,
                                     Score& score) const {
    std::vector<float> trained = weights;
    const auto network = reference::make_network(model);
    for (const std::vector<uint32_t>& batch : batches) {
      Examples chosen{.features = examples.features, .inputs = {}, .labels = {}};
      for (const uint32_t i : batch) chosen.append(examples.input(i), examples.labels[i]);
      const Score step = network->train_step(trained, {chosen.inputs, chosen.labels}, lr);
      score.loss += step.loss;
      score.correct += step.correct;
    }
    std::vector<double> update(weights.size());
    for (size_t i = 0; i < update.size(); ++i) update[i] = double{trained[i]} - double{weights[i]};
    return update;
  }
};

TEST(LocalTrainer, SameBitsForAnyNumberOfThreads) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    const Examples test_set = random_examples(round.model, 350, 20);
    for (const std::string& name : trainer_names()) {
      ThreadPool one_thread(1);
      const auto expected_trainer = make_trainer(name, one_thread);
      PartialSum expected(round.weights.size());
      const std::vector<JobReport> expected_reports = round.train(*expected_trainer, kTwoEpochs, expected);
      const Evaluation expected_score = expected_trainer->evaluate(round.model, round.weights, test_set);
      for (const size_t threads : {2, 3}) {
        ThreadPool pool(threads);
        const auto trainer = make_trainer(name, pool);
        PartialSum sum(round.weights.size());
        expect_equal(round.train(*trainer, kTwoEpochs, sum), expected_reports);
        EXPECT_EQ(sum, expected) << name << ", " << threads << " threads";
        const Evaluation score = trainer->evaluate(round.model, round.weights, test_set);
        EXPECT_EQ(score.loss, expected_score.loss) << name << ", " << threads << " threads";
        EXPECT_EQ(score.correct, expected_score.correct) << name << ", " << threads << " threads";
      }
    }
  }
}

TEST(LocalTrainer, CohortsTrainedTogetherGetTheBitsOfEachAlone) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    const std::vector<float> other_weights(round.weights.rbegin(), round.weights.rend());
    const std::span<const Job> jobs = round.jobs;
    constexpr LocalTraining kGently{.epochs = 1, .batch = 4, .client_lr = 0.01f};
    const auto read_examples = [&](uint32_t client, Examples& into) { into = round.examples_of(client); };
    for (const std::string& name : trainer_names()) {
      for (const size_t threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        const auto trainer = make_trainer(name, pool);
        std::vector<PartialSum> together(3, PartialSum(round.weights.size())), alone = together;
        const std::vector<Cohort> cohorts{
            {.weights = round.weights, .jobs = jobs, .how = kTwoEpochs, .sum = together.data()},
            {.weights = other_weights, .jobs = jobs, .how = kTwoEpochs, .sum = &together[1]},
            {.weights = round.weights, .jobs = jobs.first(2), .how = kGently, .sum = &together[2]}};
        const auto reports = trainer->train_together(cohorts, read_examples);
        ASSERT_EQ(reports.size(), cohorts.size());
        for (size_t i = 0; i < cohorts.size(); ++i) {
          const auto& [weights, mine, how, sum] = cohorts[i];
          expect_equal(reports[i], trainer->train(weights, mine, read_examples, how, alone[i]));
          EXPECT_EQ(together[i], alone[i]) << name << ", cohort " << i << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(LocalTrainer, NothingIsLeftOverFromTheRoundBefore) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    const Examples test_set = random_examples(round.model, 30, 20);
    for (const std::string& name : trainer_names()) {
      ThreadPool pool(2);
      const auto trainer = make_trainer(name, pool);
      PartialSum first(round.weights.size()), second(round.weights.size());
      const std::vector<JobReport> reports = round.train(*trainer, kTwoEpochs, first);
      trainer->evaluate(round.model, round.weights, test_set);
      expect_equal(round.train(*trainer, kTwoEpochs, second), reports);
      EXPECT_EQ(first, second) << name;
    }
  }
}

TEST(LocalTrainer, AddsToWhatTheSumHolds) {
  const SmallRound round;
  ThreadPool pool(2);
  const auto trainer = make_trainer("reference", pool);
  PartialSum once(round.weights.size()), twice(round.weights.size());
  round.train(*trainer, kTwoEpochs, once);
  round.train(*trainer, kTwoEpochs, twice);
  round.train(*trainer, kTwoEpochs, twice);
  once.merge(PartialSum(once));
  EXPECT_EQ(once, twice);
}

TEST(LocalTrainer, WithoutShufflingStepsThroughTheDataInOrder) {
  const OneClient client;
  ThreadPool pool(1);
  PartialSum sum(client.weights.size());
  const LocalTraining how{.epochs = 2, .batch = 3, .client_lr = 0.1f, .shuffle = false};
  const JobReport report = client.train(*make_trainer("reference", pool), how, sum);

  Score score;
  const std::vector<double> expected =
      client.update_by_hand({{0, 1, 2}, {3, 4, 5}, {6}, {0, 1, 2}, {3, 4, 5}, {6}}, 0.1f, score);
  const std::vector<double> actual = means(sum);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], PartialSum::kResolution);
  EXPECT_EQ(report.examples, 7u);
  EXPECT_DOUBLE_EQ(report.loss, score.loss / 14);
  EXPECT_DOUBLE_EQ(report.accuracy, static_cast<double>(score.correct) / 14);
}

TEST(LocalTrainer, ShufflesAnewEachEpochByTheJobsKey) {
  const OneClient client;
  ThreadPool pool(1);
  PartialSum sum(client.weights.size());
  client.train(*make_trainer("reference", pool), {.epochs = 2, .batch = 4, .client_lr = 0.1f}, sum);

  Random random(client.order);
  std::vector<uint32_t> order(7);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::vector<uint32_t>> batches;
  for (int epoch = 0; epoch < 2; ++epoch) {
    random.shuffle(std::span(order));
    batches.emplace_back(order.begin(), order.begin() + 4);
    batches.emplace_back(order.begin() + 4, order.end());
  }
  Score score;
  const std::vector<double> expected = client.update_by_hand(batches, 0.1f, score);
  const std::vector<double> actual = means(sum);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], PartialSum::kResolution);

  OneClient other;
  other.order.round += 1;
  PartialSum other_sum(other.weights.size());
  other.train(*make_trainer("reference", pool), {.epochs = 2, .batch = 4, .client_lr = 0.1f}, other_sum);
  EXPECT_NE(sum, other_sum);
}

TEST(LocalTrainer, AClientWithoutExamplesContributesNothing) {
  OneClient client;
  client.examples = random_examples(client.model, 0, 1);
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(1);
    PartialSum sum(client.weights.size());
    const JobReport report = client.train(*make_trainer(name, pool), {}, sum);
    EXPECT_EQ(report.examples, 0u);
    EXPECT_FALSE(report.diverged);
    EXPECT_EQ(sum, PartialSum(client.weights.size()));
  }
}

TEST(LocalTrainer, AClientThatDivergesIsLeftOut) {
  const SmallRound round;
  const auto read_examples = [&](uint32_t client, Examples& into) {
    into = round.examples_of(client);
    for (float& value : into.inputs) value *= client == 0 ? 1e25f : 1.0f;
  };
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const auto trainer = make_trainer(name, pool);
    PartialSum all(round.weights.size()), others(round.weights.size());
    const std::vector<JobReport> reports =
        trainer->train(round.weights, round.jobs, read_examples, kTwoEpochs, all);
    trainer->train(round.weights, std::span(round.jobs).subspan(1), read_examples, kTwoEpochs, others);
    for (size_t i = 0; i < reports.size(); ++i) EXPECT_EQ(reports[i].diverged, i == 0) << name;
    EXPECT_EQ(all, others) << name;
  }
}

TEST(LocalTrainer, EvaluationIsTheMeanOverAllExamples) {
  const ModelSpec model = small_cnn();
  const std::vector<float> weights = random_weights(model);
  const Examples examples = random_examples(model, 205, 3);
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const Evaluation actual = make_trainer(name, pool)->evaluate(model, weights, examples);
    std::vector<float> logits(205 * class_count(model));
    reference::make_network(model)->infer(weights, examples.inputs, logits);
    const Score expected = softmax_cross_entropy(logits, examples.labels, {});
    EXPECT_EQ(actual.examples, 205u);
    EXPECT_EQ(actual.correct, expected.correct) << name;
    EXPECT_NEAR(actual.loss, expected.loss / 205, 1e-6) << name;
  }
}

// What was dropped counts as zero: an LSTM unit without weights stays at 0, as does a filter or a dense unit.
TEST(LocalTrainer, ASubModelComputesWhatTheWholeDoesWithTheRestAtZero) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    const Examples examples = random_examples(model, 4, 30);
    for (const SubModel& submodel : round.submodels) {
      std::vector<float> held(submodel.size()), masked(round.weights.size(), 0.0f);
      submodel.gather(round.weights, held);
      submodel.scatter(held, masked);
      std::vector<float> actual(4 * class_count(model)), expected(actual.size());
      reference::make_network(submodel.spec())->infer(held, examples.inputs, actual);
      reference::make_network(model)->infer(masked, examples.inputs, expected);
      for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << model.name;
    }
  }
}

TEST(LocalTrainer, ALearningRateOfZeroMovesNothing) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    for (const std::string& name : trainer_names()) {
      ThreadPool pool(2);
      PartialSum sum(round.weights.size());
      round.train(*make_trainer(name, pool), {.epochs = 1, .batch = 4, .client_lr = 0}, sum);
      for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum.mean(i), 0.0) << model.name << ", " << name;
    }
  }
}

TEST(LocalTrainer, RejectsWhatIsNoSymbol) {
  const ModelSpec model = small_char_lstm();
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const auto trainer = make_trainer(name, pool);
    for (const float value : {-1.0f, 5.0f, 1e30f, std::nanf("")}) {
      Examples examples = random_examples(model, 3, 1);
      examples.inputs[10] = value;
      EXPECT_THROW(trainer->evaluate(model, random_weights(model), examples), Error) << name << " " << value;
    }
  }
}

TEST(LocalTrainer, RejectsWhatDoesNotFitTheModel) {
  ThreadPool pool(2);
  const auto trainer = make_trainer("reference", pool);
  for (const int32_t label : {-1, 5}) {
    OneClient client;
    client.examples.labels[3] = label;
    PartialSum sum(client.weights.size());
    EXPECT_THROW(client.train(*trainer, {}, sum), Error);
    EXPECT_EQ(sum, PartialSum(client.weights.size()));
    EXPECT_THROW(trainer->evaluate(client.model, client.weights, client.examples), Error);
  }
  const OneClient client;
  PartialSum sum(client.weights.size()), short_sum(3);
  EXPECT_THROW(client.train(*trainer, {.epochs = 0}, sum), Error);
  EXPECT_THROW(client.train(*trainer, {.batch = 0}, sum), Error);
  EXPECT_THROW(client.train(*trainer, {}, short_sum), Error);
  const Examples small_pictures{.features = 4, .inputs = {1, 2, 3, 4}, .labels = {0}};
  EXPECT_THROW(trainer->evaluate(client.model, client.weights, small_pictures), Error);
  EXPECT_THROW(trainer->evaluate(client.model, std::vector<float>(3), client.examples), Error);
}

}  // namespace
}  // namespace subfleet
