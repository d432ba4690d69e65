#include "nn/local_trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nn/client_steps_testing.h"
#include "nn/reference/network.h"
#include "nn/trainer_testing.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr LocalTraining kTwoEpochs{.epochs = 2, .batch = 10, .client_lr = 0.05f};
constexpr LocalTraining kBeyondPlainSgd{
    .epochs = 2, .batch = 10, .client_lr = 0.05f, .momentum = 0.9f, .weight_decay = 0.01f, .proximal = 0.5f};

void expect_equal(const std::vector<JobResult>& a, const std::vector<JobResult>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].examples, b[i].examples);
    EXPECT_EQ(a[i].loss, b[i].loss);
    EXPECT_EQ(a[i].accuracy, b[i].accuracy);
    EXPECT_EQ(a[i].outcome, b[i].outcome);
    EXPECT_EQ(a[i].bytes_down, b[i].bytes_down);
    EXPECT_EQ(a[i].bytes_up, b[i].bytes_up);
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
  uint32_t draw = 2;
  Wire wire = exact_wire();

  RandomKey order() const { return {.seed = 4, .round = draw, .client = 9, .purpose = Purpose::kBatchOrder}; }

  struct Result {
    JobResult result;
    PartialSum sum;
  };
  Result train(std::string_view device, const LocalTraining& how, bool squared_norms = false) const {
    ThreadPool pool(2);
    ReadyExamples source;
    source.clients = {examples};
    const Job job{.client = 9, .row = 0, .submodel = &whole};
    Trained trained = train_cohort(*make_trainer(device, pool, source),
                                   {.model = &model,
                                    .code = {},
                                    .seed = 4,
                                    .draw = draw,
                                    .rows = 1,
                                    .jobs = {&job, 1},
                                    .how = how,
                                    .wire = wire,
                                    .squared_norms = squared_norms},
                                   weights);
    return {trained.results.front(), std::move(trained.sum)};
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
    for (size_t i = 0; i < update.size(); ++i) update[i] = trained[i] - weights[i];
    return update;
  }
};

TEST(LocalTrainer, SameBitsForAnyNumberOfThreads) {
  for (const auto& [model, name] : small_droppable_models_by_trainer()) {
    const SmallRound round(model);
    ThreadPool one_thread(1);
    const auto expected_trainer = make_trainer(name, one_thread, round.examples);
    const Trained plain = round.train(*expected_trainer, kTwoEpochs);
    const Trained beyond = round.train(*expected_trainer, kBeyondPlainSgd);
    const Evaluation expected_score = evaluate(*expected_trainer, round.model, round.weights, 350);
    for (const size_t threads : {2, 3}) {
      SCOPED_TRACE(name + ", threads: " + std::to_string(threads));
      ThreadPool pool(threads);
      const auto trainer = make_trainer(name, pool, round.examples);
      for (const auto& [how, expected] : {std::pair(&kTwoEpochs, &plain), {&kBeyondPlainSgd, &beyond}}) {
        const Trained trained = round.train(*trainer, *how);
        expect_equal(trained.results, expected->results);
        EXPECT_EQ(trained.sum, expected->sum);
      }
      const Evaluation score = evaluate(*trainer, round.model, round.weights, 350);
      EXPECT_EQ(score.loss, expected_score.loss);
      EXPECT_EQ(score.correct, expected_score.correct);
    }
  }
}

TEST(LocalTrainer, RescalingChangesWhatSubModelsLearnAndNotHowTheWholeModelDoes) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound plain(model), rescaled(model, true);
    for (const std::string& name : trainer_names()) {
      ThreadPool pool(2);
      const auto trainer = make_trainer(name, pool, plain.examples);
      const Evaluation before = evaluate(*trainer, model, plain.weights, 350);
      const Trained trained = plain.train(*trainer, kTwoEpochs);
      EXPECT_NE(rescaled.train(*trainer, kTwoEpochs).sum, trained.sum) << name;
      EXPECT_EQ(plain.train(*trainer, kTwoEpochs).sum, trained.sum) << name << ": networks are kept apart";
      const Evaluation after = evaluate(*trainer, model, plain.weights, 350);
      EXPECT_EQ(after.loss, before.loss) << name;
      EXPECT_EQ(after.correct, before.correct) << name;
    }
  }
}

TEST(LocalTrainer, CohortsTrainedTogetherGetTheBitsOfEachAlone) {
  for (const ModelSpec& model : small_droppable_models()) {
    const SmallRound round(model);
    const std::vector<float> other_weights(round.weights.rbegin(), round.weights.rend());
    for (const std::string& name : trainer_names()) {
      for (const size_t threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        const auto trainer = make_trainer(name, pool, round.examples);
        const std::vector<std::span<const float>> weights{round.weights, other_weights, round.weights};
        std::vector<Cohort> cohorts{round.cohort(kTwoEpochs), round.cohort(kTwoEpochs),
                                    round.cohort(kBeyondPlainSgd)};
        cohorts[2].jobs = cohorts[2].jobs.first(2);
        std::vector<std::unique_ptr<ServerState>> states;
        for (size_t i = 0; i < cohorts.size(); ++i) {
          states.push_back(state_of(*trainer, round.model, weights[i]));
          cohorts[i].state = states[i].get();
        }
        const auto results = trainer->train(cohorts);
        ASSERT_EQ(results.size(), cohorts.size());
        for (size_t i = 0; i < cohorts.size(); ++i) {
          const Trained alone = train_cohort(*trainer, cohorts[i], weights[i]);
          expect_equal(results[i], alone.results);
          EXPECT_EQ(sum_of(*states[i]), alone.sum)
              << name << ", cohort " << i << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(LocalTrainer, NothingIsLeftOverFromTheRoundBefore) {
  for (const auto& [model, name] : small_droppable_models_by_trainer()) {
    const SmallRound round(model);
    ThreadPool pool(2);
    const auto trainer = make_trainer(name, pool, round.examples);
    const Trained first = round.train(*trainer, kTwoEpochs);
    evaluate(*trainer, round.model, round.weights, 350);
    const Trained second = round.train(*trainer, kTwoEpochs);
    expect_equal(first.results, second.results);
    EXPECT_EQ(first.sum, second.sum) << name;
  }
}

TEST(LocalTrainer, AddsToWhatTheSumHolds) {
  const SmallRound round;
  ThreadPool pool(2);
  const auto trainer = make_trainer("reference", pool, round.examples);
  PartialSum once = round.train(*trainer, kTwoEpochs).sum;
  const auto state = state_of(*trainer, round.model, round.weights);
  Cohort cohort = round.cohort(kTwoEpochs);
  cohort.state = state.get();
  trainer->train({&cohort, 1});
  trainer->train({&cohort, 1});
  once.merge(PartialSum(once));
  EXPECT_EQ(once, sum_of(*state));
}

TEST(LocalTrainer, WithoutShufflingStepsThroughTheDataInOrder) {
  const OneClient client;
  const auto [result, sum] =
      client.train("reference", {.epochs = 2, .batch = 3, .client_lr = 0.1f, .shuffle = false});

  Score score;
  const std::vector<double> expected =
      client.update_by_hand({{0, 1, 2}, {3, 4, 5}, {6}, {0, 1, 2}, {3, 4, 5}, {6}}, 0.1f, score);
  const std::vector<double> actual = means(sum);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], PartialSum::kResolution);
  EXPECT_EQ(result.outcome, JobOutcome::kTrained);
  EXPECT_EQ(result.examples, 7u);
  EXPECT_DOUBLE_EQ(result.loss, score.loss / 14);
  EXPECT_DOUBLE_EQ(result.accuracy, static_cast<double>(score.correct) / 14);
}

TEST(LocalTrainer, ShufflesAnewEachEpochByTheJobsKey) {
  constexpr LocalTraining kHow{.epochs = 2, .batch = 4, .client_lr = 0.1f};
  const OneClient client;
  const PartialSum sum = client.train("reference", kHow).sum;

  Random random(client.order());
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
  other.draw += 1;
  EXPECT_NE(sum, other.train("reference", kHow).sum);
}

// The gradients are the reference network's, what is done with them is written out in doubles.
TEST(LocalTrainer, StepsWithMomentumWeightDecayAndTheProximalTerm) {
  const OneClient client;
  const auto network = reference::make_network(client.model);
  for (LocalTraining how : trainings_beyond_plain_sgd()) {
    how.shuffle = false;
    SgdInDoubles sgd(client.weights);
    for (const auto& [first, count] : {std::pair(0u, 4u), {4u, 3u}, {0u, 4u}, {4u, 3u}}) {
      Examples batch{.features = client.examples.features, .inputs = {}, .labels = {}};
      for (uint32_t i = first; i < first + count; ++i)
        batch.append(client.examples.input(i), client.examples.labels[i]);
      const std::vector<float> before(sgd.weights().begin(), sgd.weights().end());
      std::vector<float> after = before;
      network->train_step(after, {batch.inputs, batch.labels}, 1);
      std::vector<double> gradient(before.size());
      for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<double>(before[i]) - after[i];
      sgd.step(how, gradient);
    }
    std::vector<double> expected(client.weights.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = sgd.weights()[i] - client.weights[i];
    expect_close_tensors(client.model, means(client.train("reference", how).sum), expected, 2e-5);
  }
}

// Sends every value as its half: easy to follow, and anything but lossless.
class Halving final : public Codec {
 public:
  std::string_view name() const override { return "halving"; }
  bool lossless() const override { return false; }
  size_t encoded_size(size_t values) const override { return 4 * values + 1; }
  void encode(std::span<const float>, const RandomKey&, std::vector<std::byte>&) const override {}
  void decode(std::span<const std::byte>, const RandomKey&, std::span<float>) const override {}
  void transmit(std::span<float> values, const RandomKey& key) const override {
    purposes_.push_back(key.purpose);
    for (float& value : values) value *= 0.5f;
  }
  const std::vector<Purpose>& purposes() const { return purposes_; }

 private:
  mutable std::vector<Purpose> purposes_;
};

TEST(LocalTrainer, AClientTrainsFromWhatArrivedAndTheSumGetsWhatArrived) {
  constexpr LocalTraining kHow{
      .epochs = 2, .batch = 7, .client_lr = 0.1f, .momentum = 0.9f, .proximal = 0.5f, .shuffle = false};
  const Halving halving;
  OneClient down, up;
  down.wire.down = &halving;
  const auto [result, sum] = down.train("reference", kHow);

  // By hand: half of the weights arrive, and the update is against those.
  OneClient started_there;
  for (float& weight : started_there.weights) weight *= 0.5f;
  EXPECT_EQ(sum, started_there.train("reference", kHow).sum);
  EXPECT_EQ(result.bytes_down, 4 * down.weights.size() + 1);
  EXPECT_EQ(result.bytes_up, 4 * down.weights.size());

  up.wire.up = &halving;
  const auto [up_result, half] = up.train("reference", kHow, true);
  const auto [whole_result, whole] = OneClient().train("reference", kHow, true);
  for (size_t i = 0; i < half.size(); ++i)
    ASSERT_NEAR(half.mean(i), whole.mean(i) / 2, PartialSum::kResolution) << i;
  EXPECT_EQ(up_result.bytes_up, 4 * up.weights.size() + 1);
  EXPECT_NEAR(up_result.squared_norm, whole_result.squared_norm / 4, 1e-9) << "of what arrived";
  EXPECT_GT(whole_result.squared_norm, 0);
  EXPECT_EQ(halving.purposes(), (std::vector{Purpose::kWireDown, Purpose::kWireUp}));
}

TEST(LocalTrainer, AClientWithoutExamplesContributesNothing) {
  OneClient client;
  client.examples = random_examples(client.model, 0, 1);
  for (const std::string& name : trainer_names()) {
    const auto [result, sum] = client.train(name, {});
    EXPECT_EQ(result.examples, 0u);
    EXPECT_EQ(result.outcome, JobOutcome::kTrained);
    EXPECT_EQ(sum, PartialSum(client.weights.size()));
  }
}

TEST(LocalTrainer, AClientThatDivergesIsLeftOut) {
  SmallRound round;
  for (float& value : round.examples.clients[0].inputs) value *= 1e25f;
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const auto trainer = make_trainer(name, pool, round.examples);
    for (const char* codec : {"f32", "f16", "int8", "rot1"}) {
      Cohort cohort = round.cohort(kTwoEpochs);
      cohort.wire.up = &find_codec(codec);
      const Trained all = train_cohort(*trainer, cohort, round.weights);
      cohort.jobs = cohort.jobs.subspan(1);
      const Trained others = train_cohort(*trainer, cohort, round.weights);
      for (size_t i = 0; i < all.results.size(); ++i) {
        const JobOutcome expected = i == 0 ? JobOutcome::kDiverged : JobOutcome::kTrained;
        EXPECT_EQ(all.results[i].outcome, expected) << name << ", " << codec;
      }
      EXPECT_EQ(all.sum, others.sum) << name << ", " << codec;
    }
  }
}

TEST(LocalTrainer, AnAbsurdNumberOfExamplesIsRejectedAndTheRoundGoesOn) {
  // Half of what a round can sum, in one client of two.
  const ModelSpec model{"tiny", {1, 1, 1}, {{.type = "dense", .name = "d", .units = 2}}};
  const SubModel whole = whole_model(model);
  ReadyExamples source;
  source.clients = {random_examples(model, 5, 0), random_examples(model, PartialSum::kMostExamples / 2, 1)};
  const std::vector<Job> jobs{{.client = 0, .row = 0, .submodel = &whole},
                              {.client = 1, .row = 1, .submodel = &whole}};
  Cohort cohort{.model = &model,
                .code = {},
                .rows = 2,
                .jobs = jobs,
                .how = {.epochs = 1, .batch = 4096},
                .wire = exact_wire()};
  ThreadPool pool(2);
  const auto trainer = make_trainer("reference", pool, source);
  const std::vector<float> weights = random_weights(model);
  const Trained trained = train_cohort(*trainer, cohort, weights);
  EXPECT_EQ(trained.results[0].outcome, JobOutcome::kTrained);
  EXPECT_EQ(trained.results[1].outcome, JobOutcome::kRejected);
  EXPECT_NE(trained.results[1].why.find("1048576 examples"), std::string::npos) << trained.results[1].why;
  EXPECT_EQ(trained.results[1].bytes_up, 0u) << "it was not even trained";
  EXPECT_EQ(trained.sum.examples(), 5u);
}

TEST(LocalTrainer, SubModelsOfManyTiersKeepTheirNetworks) {
  // Six shapes in one round, and the whole model between rounds: each network is made once per thread.
  const ModelSpec model = small_cnn();
  std::deque<SubModel> submodels;
  std::vector<Job> jobs;
  for (uint32_t client = 0; client < 6; ++client) {
    std::vector<uint32_t> filters(client + 1);
    std::iota(filters.begin(), filters.end(), 0u);
    submodels.emplace_back(model, std::vector<std::vector<uint32_t>>{filters, {0, 1, 2, 3}});
    jobs.push_back({.client = client, .row = client, .submodel = &submodels.back()});
  }
  ReadyExamples source;
  source.clients = {random_examples(model, 3, 0)};
  source.test = random_examples(model, 3, 1);
  size_t made = 0;
  ThreadPool pool(1);
  const auto trainer = make_local_trainer(pool, source, [&](const ModelSpec& spec) {
    ++made;
    return reference::make_network(spec);
  });
  const Cohort cohort{.model = &model, .code = {}, .rows = 6, .jobs = jobs, .how = {}, .wire = exact_wire()};
  const std::vector<float> weights = random_weights(model);
  for (int round = 0; round < 3; ++round) {
    train_cohort(*trainer, cohort, weights);
    evaluate(*trainer, model, weights, 3);
  }
  EXPECT_EQ(made, 7u);
}

TEST(LocalTrainer, EvaluationIsTheMeanOverAllExamples) {
  const ModelSpec model = small_cnn();
  const std::vector<float> weights = random_weights(model);
  const Examples examples = random_examples(model, 205, 3);
  ReadyExamples source;
  source.test = examples;
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    const Evaluation actual = evaluate(*make_trainer(name, pool, source), model, weights, 205);
    std::vector<float> logits(205 * class_count(model));
    reference::make_network(model)->infer(weights, examples.inputs, logits);
    const Score expected = softmax_cross_entropy(logits, examples.labels, {});
    EXPECT_EQ(actual.examples, 205u);
    EXPECT_EQ(actual.correct, expected.correct) << name;
    EXPECT_NEAR(actual.mean_loss(), expected.loss / 205, name.ends_with("tf32") ? 1e-3 : 1e-6) << name;
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
  for (const auto& [model, name] : small_droppable_models_by_trainer()) {
    const SmallRound round(model);
    ThreadPool pool(2);
    const PartialSum sum =
        round.train(*make_trainer(name, pool, round.examples), {.epochs = 1, .batch = 4, .client_lr = 0}).sum;
    for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum.mean(i), 0.0) << model.name << ", " << name;
  }
}

TEST(LocalTrainer, RefusesWhatIsNoSymbol) {
  const ModelSpec model = small_char_lstm();
  for (const std::string& name : trainer_names()) {
    ThreadPool pool(2);
    for (const float value : {-1.0f, 5.0f, 1e30f, std::nanf("")}) {
      ReadyExamples source;
      source.test = random_examples(model, 3, 1);
      source.test.inputs[10] = value;
      EXPECT_THROW(evaluate(*make_trainer(name, pool, source), model, random_weights(model), 3), Error)
          << name << " " << value;
    }
  }
}

TEST(LocalTrainer, RefusesWhatDoesNotFitTheModel) {
  ThreadPool pool(2);
  for (const int32_t label : {-1, 5}) {
    OneClient client;
    client.examples.labels[3] = label;
    EXPECT_THROW(client.train("reference", {}), Error);
    ReadyExamples source;
    source.test = client.examples;
    EXPECT_THROW(evaluate(*make_trainer("reference", pool, source), client.model, client.weights, 7), Error);
  }
  const OneClient client;
  EXPECT_THROW(client.train("reference", {.epochs = 0}), Error);
  EXPECT_THROW(client.train("reference", {.batch = 0}), Error);

  ReadyExamples source;
  source.test = {.features = 4, .inputs = {1, 2, 3, 4}, .labels = {0}};
  const auto trainer = make_trainer("reference", pool, source);
  EXPECT_THROW(evaluate(*trainer, client.model, client.weights, 1), Error);
  source.test = client.examples;
  const auto state = state_of(*trainer, client.model, client.weights);
  EXPECT_THROW(trainer->evaluate(*state, 0, 2), Error) << "there is one chunk";
  EXPECT_THROW(state->set_weights(std::vector<float>(3)), Error);
  EXPECT_THROW(state->set_moments(std::vector<std::vector<float>>(1)), Error);

  const SmallRound other(small_char_lstm());
  Cohort mixed = other.cohort({});
  mixed.state = state.get();
  EXPECT_THROW(trainer->train({&mixed, 1}), Error) << "sub-models of another model";
}

}  // namespace
}  // namespace subfleet
