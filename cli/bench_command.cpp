#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench_round.h"
#include "checks.h"
#include "commands.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  RoundCase work;
  std::vector<double> keep{1, 0.5};
  bool growth = false;
  bool json = false;
};

std::string part_name(double keep) {
  if (keep == 1) return "whole";
  return keep == 0.5 ? "half" : fmt::format("{:g} of it", keep);
}

double per_second(double amount, const RoundSpeed& speed) { return amount / speed.seconds; }

double samples_of(const RoundCase& work) {
  return static_cast<double>(work.clients) * work.samples * work.rounds;
}

Json to_json(const RoundCase& work, const RoundSpeed& speed) {
  return {{"model", work.model},
          {"clients", work.clients},
          {"samples", work.samples},
          {"batch", work.batch},
          {"keep", work.keep},
          {"threads", speed.threads},
          {"parameters", speed.parameters},
          {"round_ms", speed.seconds * 1e3 / work.rounds},
          {"server_step_ms", speed.step_seconds * 1e3},
          {"samples_per_second", per_second(samples_of(work), speed)},
          {"gflops", per_second(speed.operations, speed) / 1e9},
          {"peak_gflops", speed.peak / 1e9},
          {"share_of_peak", per_second(speed.operations, speed) / speed.peak},
          {"memory_bytes", speed.memory}};
}

void print_speeds(const BenchOptions& options, const std::vector<RoundSpeed>& speeds) {
  const RoundCase& work = options.work;
  fmt::print("{}: {} clients x {} samples, batch {}, one epoch, {} {}\n\n", work.model, work.clients,
             work.samples, work.batch, speeds.front().threads,
             speeds.front().threads == 1 ? "thread" : "threads");
  fmt::print("  {:<10} {:>10} {:>12} {:>11} {:>9} {:>9} {:>10}\n", "part", "weights", "ms per round",
             "samples/s", "GFLOP/s", "of peak", "memory");
  for (size_t i = 0; i < speeds.size(); ++i) {
    const RoundSpeed& speed = speeds[i];
    const double rate = per_second(speed.operations, speed);
    fmt::print("  {:<10} {:>10} {:>12.1f} {:>11.0f} {:>9.1f} {:>7.1f} % {:>7.0f} MB\n",
               part_name(options.keep[i]), speed.parameters, speed.seconds * 1e3,
               per_second(samples_of(work), speed), rate / 1e9, 100 * rate / speed.peak,
               static_cast<double>(speed.memory) / 1e6);
  }
  // FedAdam reads the sum, the holders, two moments and the weight, and writes the last three.
  constexpr double kStepBytes = 36;
  const double weights = static_cast<double>(parameter_count(find_model(work.model)));
  fmt::print("\nThe server's step (fedadam) takes {:.1f} ms of each: {:.0f} GB/s.\n",
             speeds.front().step_seconds * 1e3, weights * kStepBytes / speeds.front().step_seconds / 1e9);
  fmt::print(
      "f32 peak measured here: {:.0f} GFLOP/s; fastest of {} rounds. Arithmetic is counted as the layers "
      "are "
      "defined;\nWinograd's convolutions need less of it, so more than the peak is possible.\n",
      speeds.front().peak / 1e9, work.repeat);
}

// One thing grows, the rest stays.
std::vector<RoundCase> growing_cases(const BenchOptions& options) {
  std::vector<RoundCase> cases;
  RoundCase base = options.work;
  base.keep = options.keep.back();
  base.clients = 8;
  base.samples = 50;
  base.rounds = 1;
  const auto grow = [&](uint32_t RoundCase::*what) {
    const uint32_t first = base.*what;
    for (const uint32_t factor : {1u, 2u, 4u, 8u}) {
      cases.push_back(base);
      cases.back().*what = first * factor;
    }
  };
  grow(&RoundCase::clients);
  grow(&RoundCase::samples);
  grow(&RoundCase::rounds);
  return cases;
}

void run_growth(const BenchOptions& options) {
  Json times = Json::array(), memory = Json::array();
  if (!options.json) {
    fmt::print("Time ({}, {}; a row is the one before with one thing doubled):\n\n", options.work.model,
               part_name(options.keep.back()));
    fmt::print("  {:>8} {:>8} {:>8} {:>10} {:>14} {:>10}\n", "clients", "samples", "rounds", "ms",
               "us per sample", "memory");
  }
  for (const RoundCase& work : growing_cases(options)) {
    const RoundSpeed speed = measure_round(work);
    Json row = to_json(work, speed);
    row["rounds"] = work.rounds;
    row["ms"] = speed.seconds * 1e3;
    times.push_back(row);
    if (options.json) continue;
    fmt::print("  {:>8} {:>8} {:>8} {:>10.1f} {:>14.1f} {:>7.0f} MB\n", work.clients, work.samples,
               work.rounds, speed.seconds * 1e3, speed.seconds * 1e6 / samples_of(work),
               static_cast<double>(speed.memory) / 1e6);
  }
  if (!options.json)
    fmt::print("\nMemory of a round of 35 clients (emnist-mlp, glyphs), by how many clients there are:\n\n");
  for (const uint32_t writers : {1'000u, 1'000'000u}) {
    const uint64_t bytes = federation_memory(writers);
    memory.push_back({{"clients", writers}, {"memory_bytes", bytes}});
    if (!options.json) fmt::print("  {:>8} {:>7.0f} MB\n", writers, static_cast<double>(bytes) / 1e6);
  }
  if (options.json) fmt::print("{}\n", Json{{"time", times}, {"memory", memory}}.dump(2));
}

void run_rounds(const BenchOptions& options) {
  std::vector<RoundSpeed> speeds;
  Json results = Json::array();
  for (const double keep : options.keep) {
    RoundCase work = options.work;
    work.keep = keep;
    speeds.push_back(measure_round(work));
    results.push_back(to_json(work, speeds.back()));
  }
  if (options.json) {
    fmt::print("{}\n", results.dump(2));
  } else {
    print_speeds(options, speeds);
  }
}

void run(const BenchOptions& options) {
  find_model(options.work.model);
  for (const double keep : options.keep) {
    if (!(keep > 0 && keep <= 1))
      throw bad_request("--keep", fmt::format("{:g} is not above 0 and at most 1", keep));
  }
  options.growth ? run_growth(options) : run_rounds(options);
}

}  // namespace

void add_bench_command(CLI::App& program) {
  auto options = std::make_shared<BenchOptions>();
  RoundCase& work = options->work;
  CLI::App* bench = program.add_subcommand("bench", "Measures the speed of this machine");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand("round", "Whole rounds on generated data, with the cpu trainer");
  const auto number = [&](const std::string& name, uint32_t& value, const std::string& help) {
    command->add_option(name, value, help)
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
  };
  number("--clients", work.clients, "Clients of a round");
  number("--samples", work.samples, "Examples of each");
  number("--batch", work.batch, "Examples in a step");
  number("--repeat", work.repeat, "Rounds to measure; the fastest counts");
  command->add_option("--threads", work.threads, "0: one per core")
      ->check(whole_number(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--keep", options->keep, "Kept fraction of the units; 1 is the whole model [1 0.5]")
      ->type_name("F");
  command->add_option("--model", work.model, "A model of the zoo")->capture_default_str()->type_name("NAME");
  command->add_flag("--growth", options->growth,
                    "How time grows with clients, samples and rounds, and memory with the federation");
  command->add_flag("--json", options->json, "Prints JSON");
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
