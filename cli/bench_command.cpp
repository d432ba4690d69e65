#include <fmt/format.h>

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench_codec.h"
#include "bench_round.h"
#include "checks.h"
#include "commands.h"
#include "device_options.h"
#include "help.h"
#include "named_model.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  RoundCase work;
  std::string model = "emnist-cnn";  // a name of the zoo or a file
  std::vector<double> keep{1, 0.5};
  DeviceOptions device;
  uint32_t repeat = 0;  // 0: as often as the device is quick
  bool growth = false;
  bool sweep = false;
  bool json = false;
};

std::string part_name(double keep) {
  if (keep == 1) return "whole";
  return keep == 0.5 ? "half" : fmt::format("{:g} of it", keep);
}

double per_second(double amount, const RoundSpeed& speed) { return amount / speed.seconds; }

double samples_of(const RoundCase& work) {
  return static_cast<double>(work.clients) * work.samples * work.rounds * work.candidates;
}

Json to_json(const RoundCase& work, const RoundSpeed& speed) {
  return {{"model", resolve_model(work.model).name},
          {"device", work.device},
          {"kernels", speed.kernels.data()},
          {"candidates", work.candidates},
          {"clients", work.clients},
          {"samples", work.samples},
          {"batch", work.batch},
          {"keep", work.keep},
          {"down", work.wire.down},
          {"up", work.wire.up},
          {"threads", speed.threads},
          {"parameters", speed.parameters},
          {"round_ms", speed.seconds * 1e3 / work.rounds},
          {"server_step_ms", speed.step_seconds * 1e3},
          {"samples_per_second", per_second(samples_of(work), speed)},
          {"gflops", per_second(speed.operations, speed) / 1e9},
          {"peak_gflops", speed.peak / 1e9},
          {"share_of_peak", speed.peak > 0 ? Json(per_second(speed.operations, speed) / speed.peak) : Json()},
          {"memory_bytes", speed.memory}};
}

bool is_gpu(const RoundCase& work) { return work.device.starts_with("cuda"); }

// "2 threads", or "cuda, NVIDIA H200".
std::string done_by(const RoundCase& work, const RoundSpeed& speed) {
  if (is_gpu(work)) return fmt::format("{}, {}", work.device, speed.kernels.data());
  return fmt::format("{}{} thread{}", work.device == "cpu" ? "" : work.device + ", ", speed.threads,
                     speed.threads == 1 ? "" : "s");
}

// The columns of a measurement that follow what was measured.
std::string speed_header(const RoundCase& work) {
  return fmt::format("{:>10} {:>12} {:>11} {:>9} {:>9} {:>10}", "weights", "ms per round", "samples/s",
                     is_gpu(work) ? "TFLOP/s" : "GFLOP/s", "of peak", is_gpu(work) ? "GPU memory" : "memory");
}

std::string speed_columns(const RoundCase& work, const RoundSpeed& speed) {
  const double rate = per_second(speed.operations, speed);
  const std::string share = speed.peak > 0 ? fmt::format("{:.1f} %", 100 * rate / speed.peak) : "-";
  return fmt::format("{:>10} {:>12.{}f} {:>11.0f} {:>9.1f} {:>9} {:>7.0f} MB", speed.parameters,
                     speed.seconds * 1e3, is_gpu(work) ? 2 : 1, per_second(samples_of(work), speed),
                     rate / (is_gpu(work) ? 1e12 : 1e9), share, static_cast<double>(speed.memory) / 1e6);
}

// What the figures above it stand on.
void print_peak(const RoundCase& work, const RoundSpeed& speed) {
  if (speed.peak == 0) return fmt::print("Fastest of {} rounds.\n", work.repeat);
  if (is_gpu(work)) {
    return fmt::print(
        "f32 peak measured here: {:.1f} TFLOP/s; fastest of {} rounds. Arithmetic is counted\n"
        "as the layers are defined; TF32 products run on tensor cores, beyond that peak.\n",
        speed.peak / 1e12, work.repeat);
  }
  fmt::print(
      "f32 peak measured here: {:.0f} GFLOP/s; fastest of {} rounds. Arithmetic is counted\n"
      "as the layers are defined; Winograd's convolutions need less of it, so more than the\n"
      "peak is possible.\n",
      speed.peak / 1e9, work.repeat);
}

// ", down rot4, up rot4", where a codec was chosen.
std::string codecs_of(const RoundCase& work) {
  if (work.wire == WireOptions{}) return "";
  return fmt::format(", down {}, up {}", work.wire.down, work.wire.up);
}

// "emnist-cnn: 35 clients", with the number of candidates if there are several.
std::string title_of(const RoundCase& work) {
  return fmt::format("{}: {}{} clients", resolve_model(work.model).name,
                     work.candidates == 1 ? "" : fmt::format("{} candidates x ", work.candidates),
                     work.clients);
}

void print_speeds(const BenchOptions& options, const std::vector<RoundSpeed>& speeds) {
  const RoundCase& work = options.work;
  fmt::print("{} x {} samples, batch {}, one epoch{}, {}\n\n", title_of(work), work.samples, work.batch,
             codecs_of(work), done_by(work, speeds.front()));
  fmt::print("  {:<10} {}\n", "part", speed_header(work));
  for (size_t i = 0; i < speeds.size(); ++i)
    fmt::print("  {:<10} {}\n", part_name(options.keep[i]), speed_columns(work, speeds[i]));
  // FedAdam reads the sum, the holders, two moments and the weight, and writes the last three.
  constexpr double kStepBytes = 36;
  const double weights = static_cast<double>(parameter_count(resolve_model(work.model)));
  fmt::print("\nThe server's step (fedadam) takes {:.{}f} ms of each: {:.0f} GB/s.\n",
             speeds.front().step_seconds * 1e3, is_gpu(work) ? 2 : 1,
             weights * kStepBytes / speeds.front().step_seconds / 1e9);
  print_peak(work, speeds.front());
}

// 35 clients, half of the units and a batch of 10, of which one at a time is varied.
std::vector<RoundCase> sweep_cases(const BenchOptions& options) {
  RoundCase base = options.work;
  base.clients = 35;
  base.keep = 0.5;
  base.batch = 10;
  std::vector<RoundCase> cases;
  const auto vary = [&](auto RoundCase::*what, std::initializer_list<double> values) {
    for (const double value : values) {
      cases.push_back(base);
      cases.back().*what = static_cast<std::remove_reference_t<decltype(base.*what)>>(value);
    }
  };
  vary(&RoundCase::clients, {10, 35, 105, 350, 1000});
  vary(&RoundCase::keep, {1, 0.25});
  vary(&RoundCase::batch, {5, 20, 50});
  return cases;
}

void run_sweep(const BenchOptions& options) {
  Json rows = Json::array();
  RoundSpeed first;
  for (const RoundCase& work : sweep_cases(options)) {
    const RoundSpeed speed = measure_round(work);
    rows.push_back(to_json(work, speed));
    if (options.json) continue;
    if (rows.size() == 1) {
      first = speed;
      fmt::print("{}, {} samples per client, one epoch{}, {}; one thing at a time is varied\n\n",
                 resolve_model(work.model).name, work.samples, codecs_of(work), done_by(work, speed));
      fmt::print("  {:>7} {:>5} {:>5} {}\n", "clients", "keep", "batch", speed_header(work));
    }
    fmt::print("  {:>7} {:>5g} {:>5} {}\n", work.clients, work.keep, work.batch, speed_columns(work, speed));
    std::fflush(stdout);
  }
  if (options.json) return fmt::print("{}\n", rows.dump(2));
  fmt::print("\n");
  print_peak(options.work, first);
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
    fmt::print("Time ({}, {}{}; a row is the one before with one thing doubled):\n\n",
               resolve_model(options.work.model).name, part_name(options.keep.back()),
               codecs_of(options.work));
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

void run(BenchOptions options) {
  options.work.model = named_model(options.model);
  resolve_model(options.work.model);  // throws if there is no such model
  find_codec(options.work.wire.down);
  find_codec(options.work.wire.up);
  options.work.device = options.device.trainer("cpu");
  options.work.repeat = options.repeat > 0 ? options.repeat : is_gpu(options.work) ? 10 : 3;
  for (const double keep : options.keep) {
    if (!(keep > 0 && keep <= 1))
      throw bad_request("--keep", fmt::format("{:g} is not above 0 and at most 1", keep));
  }
  options.sweep ? run_sweep(options) : options.growth ? run_growth(options) : run_rounds(options);
}

}  // namespace

void add_bench_command(CLI::App& program) {
  auto options = std::make_shared<BenchOptions>();
  RoundCase& work = options->work;
  CLI::App* bench = program.add_subcommand("bench", "Measure the speed of this machine");
  bench->require_subcommand(1);
  bench->footer(footer("", {"subfleet bench round --clients 100", "subfleet bench codec"}));
  add_bench_codec(*bench);
  CLI::App* command = bench->add_subcommand("round", "Measure whole rounds on generated data");
  const auto number = [&](const std::string& name, uint32_t& value, const std::string& help) {
    return command->add_option(name, value, help)
        ->check(whole_number(1, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
  };
  options->device.add_to(*command, "cpu");
  CLI::Option* clients = number("--clients", work.clients, "clients of a round");
  number("--samples", work.samples, "examples of each");
  CLI::Option* batch = number("--batch", work.batch, "examples in a step");
  number("--candidates", work.candidates,
         "runs with learning rates of their own whose clients all train together, as in a search");
  command->add_option("--repeat", options->repeat, "rounds to measure; the fastest counts [3; on a GPU 10]")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  command->add_option("--threads", work.threads, "0: one per core")
      ->check(whole_number(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  CLI::Option* keep =
      command->add_option("--keep", options->keep, "kept fraction of the units; 1 is the whole model [1 0.5]")
          ->type_name("F");
  command->add_option("--model", options->model, "a model of the zoo or a model file")
      ->capture_default_str()
      ->type_name("NAME");
  const auto codec = [&](const std::string& name, std::string& value, const std::string& help) {
    command->add_option(name, value, help)->capture_default_str()->type_name("CODEC");
  };
  codec("--down", work.wire.down, "how weights travel to a client: f32, f16, int8, rot1 to rot8");
  codec("--up", work.wire.up, "how updates travel back: the same names");
  CLI::Option* growth =
      command->add_flag("--growth", options->growth,
                        "how time grows with clients, samples and rounds, and memory with the federation");
  command
      ->add_flag("--sweep", options->sweep,
                 "one table over clients (10 to 1000), kept fraction (1 to 0.25) and batch (5 to 50)")
      ->excludes(growth, clients, keep, batch);
  command->add_flag("--json", options->json, "print JSON");
  command->footer(footer(
      "", {"subfleet bench round --clients 100 --keep 0.5", "subfleet bench round --device cuda --sweep"}));
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
