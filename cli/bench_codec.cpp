#include "bench_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checks.h"
#include "help.h"
#include "subfleet/base/stopwatch.h"
#include "subfleet/base/text.h"
#include "subfleet/codec.h"

namespace subfleet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CodecBench {
  uint32_t values = 1'696'670;  // half of emnist-cnn
  uint32_t repeat = 10;
  bool json = false;
};

// Times are seconds for all values on one thread, the fastest of all repetitions.
struct CodecSpeed {
  std::string codec;
  size_t bytes = 0;
  double encode = std::numeric_limits<double>::infinity();
  double decode = encode, transmit = encode;
  double error = 0;  // squared, as a share of the values' own squares
};

void timed(double& fastest, const auto& work) {
  const Stopwatch watch;
  work();
  fastest = std::min(fastest, watch.seconds());
}

double relative_error(const std::vector<float>& got, const std::vector<float>& sent) {
  double error = 0, energy = 0;
  for (size_t i = 0; i < sent.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - static_cast<double>(sent[i]), 2);
    energy += std::pow(static_cast<double>(sent[i]), 2);
  }
  return error / energy;
}

CodecSpeed measure(const Codec& codec, const std::vector<float>& values, uint32_t repeat) {
  constexpr RandomKey kKey{.seed = 1, .purpose = Purpose::kWireUp};
  CodecSpeed speed{.codec = std::string(codec.name())};
  std::vector<std::byte> message;
  std::vector<float> got(values.size()), sent;
  for (uint32_t time = 0; time < repeat; ++time) {
    timed(speed.encode, [&] { codec.encode(values, kKey, message); });
    timed(speed.decode, [&] { codec.decode(message, kKey, got); });
    sent = values;
    timed(speed.transmit, [&] { codec.transmit(sent, kKey); });
  }
  speed.bytes = message.size();
  speed.error = relative_error(got, values);
  return speed;
}

void run(const CodecBench& options) {
  Random random({.seed = 2});
  std::vector<float> values(options.values);
  for (float& value : values) value = static_cast<float>(random.normal());
  const auto each = [&](double amount) { return amount / options.values; };
  Json rows = Json::array();
  std::vector<std::vector<std::string>> lines{
      {"codec", "bytes per value", "of f32", "encode", "decode", "transmit", "squared error"}};
  for (const std::string& name : codec_names()) {
    const CodecSpeed speed = measure(find_codec(name), values, options.repeat);
    const double bytes = each(static_cast<double>(speed.bytes));
    rows.push_back({{"codec", speed.codec},
                    {"values", options.values},
                    {"bytes_per_value", bytes},
                    {"encode_ns", each(speed.encode) * 1e9},
                    {"decode_ns", each(speed.decode) * 1e9},
                    {"transmit_ns", each(speed.transmit) * 1e9},
                    {"squared_error", speed.error}});
    const auto time = [&](double seconds) { return fmt::format("{:.2f}", each(seconds) * 1e9); };
    lines.push_back({name, fmt::format("{:.4f}", bytes), fmt::format("{:.1f} %", 100 * bytes / sizeof(float)),
                     time(speed.encode), time(speed.decode), time(speed.transmit),
                     fmt::format("{:.3g}", speed.error)});
  }
  if (options.json) return fmt::print("{}\n", rows.dump(2));
  fmt::print("{} normal values, one thread; times in ns per value, fastest of {}\n\n{}\n", options.values,
             options.repeat, align_table(lines, "lrrrrrr"));
  fmt::print(
      "'transmit' is both ends without the message, as simulated clients do it. The\n"
      "squared error is a share of the values' own squares.\n");
}

}  // namespace

void add_bench_codec(CLI::App& bench) {
  auto options = std::make_shared<CodecBench>();
  CLI::App* command =
      bench.add_subcommand("codec", "Measure what travels: bytes, time and error of every codec");
  const auto number = [&](const std::string& name, uint32_t& value, const std::string& help) {
    command->add_option(name, value, help)
        ->check(whole_number(1, 100'000'000))
        ->capture_default_str()
        ->type_name("N");
  };
  number("--values", options->values, "values in a message");
  number("--repeat", options->repeat, "times to measure; the fastest counts");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(footer("", {"subfleet bench codec --values 1000000"}));
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
