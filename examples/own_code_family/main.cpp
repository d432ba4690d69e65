// Trains a small network with a code family and an observer of this program's own, on data that Subfleet
// generates. docs/library.md says how to build it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <vector>

#include "subfleet/codes.h"
#include "subfleet/config.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"
#include "subfleet/training.h"

namespace {

// Client k keeps a block of neighbouring units. The blocks of a round's clients are spread evenly over the
// layer, and in each round they begin one unit further on.
class Blocks final : public subfleet::CodeFamily {
 public:
  std::string_view name() const override { return "blocks"; }
  std::string_view summary() const override { return "a block of neighbouring units for each client"; }

  size_t weight(size_t length, double keep) const override {
    if (!(keep > 0 && keep <= 1))
      throw subfleet::bad_request("blocks", "keep has to be above 0 and at most 1");
    return std::max<size_t>(1, static_cast<size_t>(std::llround(keep * static_cast<double>(length))));
  }

  subfleet::CodeBook draw(const subfleet::BookRequest& request) const override {
    subfleet::CodeBook book(request.rows, request.length);
    const size_t ones = weight(request.length, request.keep);
    for (size_t row = 0; row < request.rows; ++row) {
      const size_t first = request.round + row * request.length / request.rows;
      for (size_t i = 0; i < ones; ++i) book.set_bit(row, (first + i) % request.length, true);
    }
    return book;
  }
};

// Prints every round.
class Printer final : public subfleet::RoundObserver {
 public:
  void round_done(subfleet::Run& run, const subfleet::RoundRecord& record) override {
    std::printf("round %u of %u: loss %.4f, test accuracy %.4f, %.1f kB up\n", record.round,
                run.config().run.rounds, record.train_loss, record.test_accuracy.value_or(0),
                static_cast<double>(record.bytes_up) / 1000);
  }
};

constexpr auto kModel = R"(
input = [1, 28, 28]
layer = [
  { type = "maxpool", kernel = 4 },
  { type = "flatten" },
  { type = "dense", name = "hidden", units = 48, droppable = true },
  { type = "relu" },
  { type = "dense", name = "output", units = 62 },
]
)";

void train_with_blocks(const char* model_file) {
  std::ofstream(model_file) << kModel;
  subfleet::register_code_family(std::make_unique<Blocks>());

  subfleet::Config config;
  config.model.file = model_file;
  config.data.writers = 40;
  config.code.family = "blocks";
  config.round.clients = 8;
  config.run.rounds = 3;
  config.run.eval_every = 1;
  config.run.eval_samples = 500;
  validate(config);

  subfleet::ThreadPool pool;
  const std::vector<std::string> devices = subfleet::trainer_names();
  const bool has_cpu = std::find(devices.begin(), devices.end(), "cpu") != devices.end();
  subfleet::LocalFleet fleet(subfleet::open_split_federation(config.data), has_cpu ? "cpu" : "reference",
                             pool, config.run.eval_samples);
  subfleet::Run run(config, fleet);
  Printer printer;
  const std::vector<subfleet::RoundObserver*> observers{&printer};
  train(run, observers, [] { return false; });
}

}  // namespace

int main() {
  try {
    train_with_blocks("small-network.toml");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_code_family: %s\n", error.what());
    return 1;
  }
}
