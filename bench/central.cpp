// How hard a data set is: trains emnist-linear and emnist-cnn centrally, on the pooled examples of many
// clients, and prints the test accuracy after every epoch.
//
//     build/release/bench_central [EPOCHS] [WRITERS] [IDX_FOLDER]

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "subfleet/data.h"
#include "subfleet/error.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"

namespace {

using namespace subfleet;

void append(Examples& all, const Examples& more) {
  all.features = more.features;
  all.inputs.insert(all.inputs.end(), more.inputs.begin(), more.inputs.end());
  all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
}

// One client that holds everything: its SGD is central training.
class Pooled final : public ExampleSource {
 public:
  Pooled(Examples train, Examples test) : train_(std::move(train)), test_(std::move(test)) {}
  void read_train(uint32_t, Examples& into) const override { into = train_; }
  const Examples& test_set() const override { return test_; }

 private:
  Examples train_, test_;
};

void train_centrally(const std::string& name, const Pooled& pooled, uint32_t epochs) {
  ThreadPool pool(0);
  const auto trainer = make_trainer("cpu", pool, pooled);
  const ModelSpec model = find_model(name);
  const SubModel whole = whole_model(model);
  const auto state = trainer->make_state(model, {.optimizer = "fedavg"});
  state->set_weights(initial_weights(model, 0));
  const Job job{.client = 0, .row = 0, .submodel = &whole};
  const Codec& exact = find_codec("f32");
  for (uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    const Cohort cohort{.model = &model,
                        .code = {},
                        .draw = epoch,
                        .rows = 1,
                        .jobs = {&job, 1},
                        .how = {.epochs = 1, .batch = 10, .client_lr = 0.035f, .shuffle = true},
                        .wire = {.down = &exact, .up = &exact},
                        .state = state.get()};
    state->clear_sum();
    const std::vector<JobResult> results = trainer->train({&cohort, 1}).front();
    if (!state->step({.lr = 1, .results = results})) throw failure(name, "the weights are no longer finite");
    Evaluation evaluation;
    for (const Evaluation& chunk : trainer->evaluate(*state, 0, chunk_count(pooled.test_set().count())))
      evaluation += chunk;
    fmt::print("{:<14} epoch {}/{}  train {:5.1f} %  test {:5.1f} %\n", name, epoch, epochs,
               100 * results[0].accuracy, 100 * evaluation.accuracy());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto epochs = static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 3);
    DataOptions options;
    options.writers = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 300);
    if (argc > 3) options = {.source = "idx", .path = argv[3], .min_samples = 50};
    const SplitFederation data = open_split_federation(options);
    Examples pooled;
    for (uint32_t client = 0; client < data.clients(); ++client) append(pooled, data.train(client));
    Examples test = data.test_set(0);
    fmt::print("{}: {} clients, {} training and {} test examples\n", options.source, data.clients(),
               pooled.count(), test.count());
    const Pooled source(std::move(pooled), std::move(test));
    train_centrally("emnist-linear", source, epochs);
    train_centrally("emnist-cnn", source, epochs);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_central: {}\n", error.what());
    return 1;
  }
}
