#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checks.h"
#include "config_options.h"
#include "help.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/png.h"
#include "subfleet/base/text.h"
#include "subfleet/config.h"
#include "subfleet/data.h"
#include "subfleet/data/contact_sheet.h"
#include "subfleet/data/recognise.h"
#include "subfleet/error.h"
#include "subfleet/page/output_file.h"
#include "wait_line.h"

namespace subfleet::cli {
namespace {

struct DataRequest {
  ConfigOptions config;
  ContactSheetOptions sheet;
  std::string out;
  std::string path;
};

constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();

void show(const DataRequest& request) {
  check_output("--out", request.out, OutputKind::kPicture);
  const std::unique_ptr<Federation> data = open_federation(request.config.unchecked().data);
  const GreyImage image = contact_sheet(*data, request.sheet);
  write_png(request.out, image);
  fmt::print("{}: {} x {} pixels, one row per client, one column per class\n", request.out, image.width,
             image.height);
}

// How many clients have how many examples: as large as there are different numbers of them.
using SampleCounts = std::map<uint32_t, uint64_t>;

SampleCounts count_samples(const Federation& data) {
  constexpr uint32_t kMany = 10'000'000;
  const WaitLine wait(fmt::format("counting the examples of {} clients", data.clients()),
                      data.clients() > kMany);
  SampleCounts counts;
  for (uint32_t client = 0; client < data.clients(); ++client) ++counts[data.samples(client)];
  return counts;
}

void print_histogram(const SampleCounts& samples) {
  constexpr size_t kBins = 12;
  constexpr size_t kLongestBar = 40;
  const uint32_t most = samples.rbegin()->first;
  const uint32_t step = std::max(10u, (most / static_cast<uint32_t>(kBins) / 10 + 1) * 10);
  std::array<uint64_t, kBins + 1> counts{};
  for (const auto& [count, clients] : samples) counts[count / step] += clients;
  const uint64_t tallest = *std::max_element(counts.begin(), counts.end());
  for (size_t bin = 0; bin <= most / step; ++bin) {
    const size_t bar = (counts[bin] * kLongestBar + tallest - 1) / tallest;
    fmt::print("{:>7} - {:<5} {:>8}  {}\n", bin * step, (bin + 1) * step - 1, counts[bin],
               std::string(bar, '#'));
  }
}

// The upper one of the two in the middle.
uint32_t median_of(const SampleCounts& samples, uint64_t clients) {
  uint64_t before = 0;
  for (const auto& [count, some] : samples) {
    before += some;
    if (before > clients / 2) return count;
  }
  return samples.rbegin()->first;
}

// The lines that `stats` and `info` share; gives how many clients have how many examples.
SampleCounts print_counts(const std::string& source, const Federation& data) {
  SampleCounts samples = count_samples(data);
  uint64_t total = 0;
  for (const auto& [count, clients] : samples) total += count * clients;
  const Shape input = data.input();
  fmt::print("source              {}\n", source);
  fmt::print("clients             {}\n", data.clients());
  fmt::print("examples            {} of {} x {} x {}\n", total, input.channels, input.height, input.width);
  fmt::print("classes             {}: {} ... {}\n", data.classes(), data.class_name(0),
             data.class_name(data.classes() - 1));
  fmt::print("samples per client  min {}, median {}, mean {:.1f}, max {}\n", samples.begin()->first,
             median_of(samples, data.clients()),
             static_cast<double>(total) / static_cast<double>(data.clients()), samples.rbegin()->first);
  return samples;
}

void stats(const DataOptions& options) {
  print_histogram(print_counts(options.source, *open_federation(options)));
}

constexpr std::string_view kSection = "data.";

bool is_set(const ConfigOptions& options, std::string_view name) {
  return std::ranges::any_of(
      options.sets, [&](const std::string& set) { return set.starts_with(fmt::format("{}=", name)); });
}

// Settings of the data alone, which --set may change here.
void check_sets(const ConfigOptions& options) {
  for (const std::string& set : options.sets) {
    if (!set.starts_with(kSection))
      throw bad_request("--set", fmt::format("'{}' is not about the data, as data.clients=10 is", set));
    if (set.starts_with("data.path="))
      throw bad_request("--set", "data.path is what PATH says; leave it out");
  }
}

// The settings that differ from the defaults or say how images are dealt, as a settings file has them.
void print_data_settings(const Config& config) {
  fmt::print("\n[data]\n");
  const std::vector<Setting> defaults = settings(Config{}), own = settings(config);
  const bool dealt = config.data.partition != "auto";
  for (size_t i = 0; i < own.size(); ++i) {
    const bool matters = own[i].value != defaults[i].value ||
                         (dealt && (own[i].name == "data.clients" || own[i].name == "data.dirichlet"));
    if (!matters) continue;
    if (own[i].name == "data.path" && printable(config.data.path.string()) != config.data.path.string()) {
      fmt::print("# path: {} is no name that settings can hold; rename it\n", path_name(config.data.path));
    } else {
      fmt::print("{} = {}\n", own[i].name.substr(kSection.size()), own[i].value);
    }
  }
}

// What is at a path, and the settings that read it.
void info(const DataRequest& request) {
  check_sets(request.config);
  Config config;
  config.data = recognise(request.path);
  config.data.raw_polarity = true;
  request.config.apply_sets(config);
  const SplitFederation data = open_split_federation(config.data);
  print_counts(config.data.source, data.all());

  uint64_t train = 0, all = 0;
  for (uint32_t client = 0; client < data.clients(); ++client) {
    train += data.train_samples(client);
    all += data.all().samples(client);
  }
  fmt::print("split               {}: {} for training, {} for testing\n",
             data.all().own_test_samples(0) ? "its own" : "drawn by data.test_fraction", train, all - train);
  const bool has_polarity = data.all().input().width > 1 && config.data.source != "cifar";
  if (!has_polarity) {
    config.data.raw_polarity = false;
  } else if (!is_set(request.config, "data.raw_polarity")) {
    const bool on_white = margin_brightness(data.all()) > 0.5;
    fmt::print("polarity            {}\n", on_white ? "paper is 1 and ink 0; turned around as it is read"
                                                    : "paper is 0 and ink 1 already");
    config.data.raw_polarity = !on_white;
  }
  print_data_settings(config);
}

}  // namespace

void add_data_command(CLI::App& program) {
  CLI::App* data = program.add_subcommand("data", "Look at the data");
  data->require_subcommand(1);
  data->footer(footer("", {"subfleet data info ~/emnist", "subfleet data show --out sheet.png"}));
  const auto request = std::make_shared<DataRequest>();

  CLI::App* show_command =
      data->add_subcommand("show", "Write a contact sheet: one row per client, one column per class");
  request->config.add_to(*show_command);
  show_command->add_option("--first", request->sheet.first, "the client of the first row")
      ->check(whole_number(0, kMost))
      ->capture_default_str();
  show_command->add_option("--rows", request->sheet.rows, "how many clients")
      ->check(whole_number(1, kMost))
      ->capture_default_str();
  show_command->add_option("--scale", request->sheet.scale, "screen pixels per pixel")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  show_command->add_option("--out", request->out, "the PNG file to write")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  show_command->footer(
      footer("", {"subfleet data show --out sheet.png",
                  "subfleet data show --set data.writers=20 --rows 20 --scale 2 --out sheet.png"}));
  show_command->callback([request] { show(*request); });

  CLI::App* info_command = data->add_subcommand(
      "info", "Say what is at a path (idx, cifar, text, leaf, hdf5), and the settings that read it");
  info_command->add_option("PATH", request->path, "a folder, or a .json or .h5 file")
      ->required()
      ->check(not_empty());
  request->config.add_set_to(*info_command, "a setting of data.*, as data.clients=10; may be given again");
  info_command->footer(footer("", {"subfleet data info ~/emnist",
                                   "subfleet data info ~/cifar-10-batches-bin --set data.clients=50"}));
  info_command->callback([request] { info(*request); });

  CLI::App* stats_command = data->add_subcommand("stats", "Count clients, examples and classes");
  request->config.add_to(*stats_command);
  stats_command->footer(
      footer("", {"subfleet data stats --set data.writers=100", "subfleet data stats settings.toml"}));
  stats_command->callback([request] { stats(request->config.unchecked().data); });
}

}  // namespace subfleet::cli
