// How many rounds until a model of text beats always guessing the most common character by ten points. Runs
// an experiment round by round, tests as often as it says, and stops there.
//
//     build/release/bench_text_learning experiments/shakespeare-gold.toml TEXT_FOLDER

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "subfleet/base/file.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/thread_pool.h"

namespace {

using namespace subfleet;

constexpr double kMargin = 0.1;

struct Guess {
  std::string name;
  double accuracy = 0;
};

// Always the class that is most common among the test examples, and how often that is right.
Guess best_constant_guess(const SplitFederation& data, uint64_t samples) {
  const Examples test = data.test_set(samples);
  std::vector<size_t> counts(data.all().classes());
  for (const int32_t label : test.labels) ++counts[static_cast<size_t>(label)];
  const auto most = std::max_element(counts.begin(), counts.end());
  return {data.all().class_name(static_cast<uint32_t>(most - counts.begin())),
          static_cast<double>(*most) / static_cast<double>(test.count())};
}

int run(const char* experiment, const char* folder) {
  Config config = parse_config(read_file(experiment), experiment);
  config.data.path = folder;
  validate(config);
  const auto open = [&] { return open_split_federation(config.data); };
  const Guess guess = best_constant_guess(open(), config.run.eval_samples);
  fmt::print("always guessing {}: {:.1f} %\n", guess.name, 100 * guess.accuracy);

  ThreadPool pool(0);
  LocalFleet fleet(open(), "cpu", pool, config.run.eval_samples);
  Run training(config, fleet);
  while (training.round() < config.run.rounds) {
    training.step();
    if (training.round() % config.run.eval_every != 0) continue;
    const double accuracy = training.evaluate().accuracy();
    fmt::print("round {:>3}: {:.1f} %\n", training.round(), 100 * accuracy);
    std::fflush(stdout);
    if (accuracy < guess.accuracy + kMargin) continue;
    fmt::print("{} with {} beats it by ten points after {} rounds\n", training.model().name,
               config.code.family, training.round());
    return 0;
  }
  fmt::print("not beaten by ten points in {} rounds\n", config.run.rounds);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3) return run(argv[1], argv[2]);
    fmt::print(stderr, "usage: bench_text_learning EXPERIMENT TEXT_FOLDER\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_text_learning: {}\n", error.what());
  }
  return 2;
}
