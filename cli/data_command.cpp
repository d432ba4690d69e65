#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/png.h"
#include "checks.h"
#include "config_options.h"
#include "data/contact_sheet.h"
#include "data/recognise.h"
#include "page/output_file.h"
#include "subfleet/config.h"
#include "subfleet/data.h"

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

void print_histogram(const std::vector<uint32_t>& sorted) {
  constexpr size_t kBins = 12;
  constexpr size_t kLongestBar = 40;
  const uint32_t step = std::max(10u, (sorted.back() / static_cast<uint32_t>(kBins) / 10 + 1) * 10);
  std::array<size_t, kBins + 1> counts{};
  for (const uint32_t samples : sorted) ++counts[samples / step];
  const size_t tallest = *std::max_element(counts.begin(), counts.end());
  for (size_t bin = 0; bin <= sorted.back() / step; ++bin) {
    const size_t bar = (counts[bin] * kLongestBar + tallest - 1) / tallest;
    fmt::print("{:>7} - {:<5} {:>8}  {}\n", bin * step, (bin + 1) * step - 1, counts[bin],
               std::string(bar, '#'));
  }
}

// The lines that `stats` and `info` share; gives how many examples each client has, ascending.
std::vector<uint32_t> print_counts(const std::string& source, const Federation& data) {
  std::vector<uint32_t> samples(data.clients());
  for (uint32_t client = 0; client < data.clients(); ++client) samples[client] = data.samples(client);
  std::sort(samples.begin(), samples.end());
  const uint64_t total = std::accumulate(samples.begin(), samples.end(), uint64_t{0});
  const Shape input = data.input();
  fmt::print("source              {}\n", source);
  fmt::print("clients             {}\n", samples.size());
  fmt::print("examples            {} of {} x {} x {}\n", total, input.channels, input.height, input.width);
  fmt::print("classes             {}: {} ... {}\n", data.classes(), data.class_name(0),
             data.class_name(data.classes() - 1));
  fmt::print("samples per client  min {}, median {}, mean {:.1f}, max {}\n", samples.front(),
             samples[samples.size() / 2], static_cast<double>(total) / static_cast<double>(samples.size()),
             samples.back());
  return samples;
}

void stats(const DataOptions& options) {
  print_histogram(print_counts(options.source, *open_federation(options)));
}

// What is at a path, and the settings that read it.
void info(const std::string& path) {
  Config config;
  config.data = recognise(path);
  config.data.raw_polarity = true;
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
  const bool on_white = has_polarity && margin_brightness(data.all()) > 0.5;
  if (has_polarity) {
    fmt::print("polarity            {}\n", on_white ? "paper is 1 and ink 0; turned around as it is read"
                                                    : "paper is 0 and ink 1 already");
  }
  config.data.raw_polarity = has_polarity && !on_white;

  fmt::print("\n[data]\n");
  constexpr std::string_view kSection = "data.";
  const std::vector<Setting> defaults = settings(Config{}), own = settings(config);
  const bool dealt = config.data.partition != "auto";
  for (size_t i = 0; i < own.size(); ++i) {
    const bool told = own[i].value != defaults[i].value ||
                      (dealt && (own[i].name == "data.clients" || own[i].name == "data.dirichlet"));
    if (told) fmt::print("{} = {}\n", own[i].name.substr(kSection.size()), own[i].value);
  }
}

}  // namespace

void add_data_command(CLI::App& program) {
  CLI::App* data = program.add_subcommand("data", "Look at the data");
  data->require_subcommand(1);
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
  show_command->add_option("--out", request->out, "the PNG file to write")->required()->check(not_empty());
  show_command->callback([request] { show(*request); });

  CLI::App* info_command = data->add_subcommand(
      "info", "Say what is at a path (idx, cifar, text, leaf, hdf5), and the settings that read it");
  info_command->add_option("PATH", request->path, "a folder, or a .json or .h5 file")
      ->required()
      ->check(not_empty());
  info_command->callback([request] { info(request->path); });

  CLI::App* stats_command = data->add_subcommand("stats", "Count clients, examples and classes");
  request->config.add_to(*stats_command);
  stats_command->callback([request] { stats(request->config.unchecked().data); });
}

}  // namespace subfleet::cli
