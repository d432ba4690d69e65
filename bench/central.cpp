// How hard a data set is: trains emnist-linear and emnist-cnn centrally, on the pooled examples of many
// clients, and prints the test accuracy after every epoch.
//
//     build/release/bench_central [EPOCHS] [WRITERS] [IDX_FOLDER]

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "subfleet/data.h"
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
void train_centrally(const std::string& name, const Examples& pooled, const Examples& test, uint32_t epochs) {
  ThreadPool pool(0);
  const auto trainer = make_trainer("cpu", pool);
  const ModelSpec model = find_model(name);
  const SubModel whole = whole_model(model);
  std::vector<float> weights = initial_weights(model, 0);
  for (uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    PartialSum sum(weights.size());
    const Job job{
        .client = 0, .submodel = &whole, .batch_order = {.round = epoch, .purpose = Purpose::kBatchOrder}};
    const LocalTraining how{.epochs = 1, .batch = 10, .client_lr = 0.035f, .shuffle = true};
    const auto reports = trainer->train(
        weights, std::span(&job, 1), [&](uint32_t, Examples& into) { into = pooled; }, how, sum);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] += static_cast<float>(sum.mean(i));
    const Evaluation evaluation = trainer->evaluate(model, weights, test);
    fmt::print("{:<14} epoch {}/{}  train {:5.1f} %  test {:5.1f} %\n", name, epoch, epochs,
               100 * reports[0].accuracy, 100 * evaluation.accuracy());
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
    const SplitFederation data(open_federation(options), options.seed, options.test_fraction);
    Examples pooled;
    for (uint32_t client = 0; client < data.clients(); ++client) append(pooled, data.train(client));
    const Examples test = data.test_set(0);
    fmt::print("{}: {} clients, {} training and {} test examples\n", options.source, data.clients(),
               pooled.count(), test.count());
    train_centrally("emnist-linear", pooled, test, epochs);
    train_centrally("emnist-cnn", pooled, test, epochs);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_central: {}\n", error.what());
    return 1;
  }
}
