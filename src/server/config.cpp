#include "subfleet/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "base/toml_text.h"
#include "nn/augment.h"
#include "server/config_table.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/model.h"
#include "subfleet/round_masks.h"

namespace subfleet {
namespace {

struct Range {
  double low, high;
};
constexpr Range kAny{0, std::numeric_limits<double>::infinity()};
constexpr Range kCount{1, 4e9};
constexpr Range kClients{1, 20'000};  // each holds a sub-model in memory, of a few kB to some 10 kB
constexpr Range kFraction{0, 1};
constexpr Range kFinal{1e-6, 1};

// A row of the table of settings.
struct Key {
  std::string name;
  std::string help;
  bool fixed;  // cannot change once a run has begun
  bool text;
  std::optional<Range> number;
  bool whole;
  std::function<void(Config&, const toml::node&)> read;
  std::function<std::string(const Config&)> print;
  bool later = false;  // came after runs had been saved; its default is what they did without it
};

Key later(Key k) {
  k.later = true;
  return k;
}

std::string quoted(const std::string& text) {
  // Quoted as it is if that can be read back, otherwise with escapes.
  const bool as_it_is = std::ranges::none_of(text, [](unsigned char c) { return std::iscntrl(c) != 0; });
  const toml::value<std::string> value(text);
  std::ostringstream out;
  out << toml::toml_formatter(
      value, as_it_is ? toml::format_flags::allow_literal_strings : toml::format_flags::none);
  return out.str();
}

std::string print_number(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <std::floating_point T>
T read_number(const std::string& name, const toml::node& node, Range range) {
  if (!node.is_number()) throw bad_request(name, "must be a number");
  // A whole number may have more digits than a double: value<double>() has nothing to say then.
  const double value =
      node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
  if (!(value >= range.low && value <= range.high)) {
    throw bad_request(name, fmt::format("{} is not between {} and {}", value, range.low, range.high));
  }
  return static_cast<T>(value);
}

// TOML's integers end at 2^63 - 1; larger ones, where they are possible, are written as text.
std::optional<uint64_t> whole_number(const toml::node& node, bool may_be_text) {
  if (const auto value = node.value_exact<int64_t>()) {
    if (*value < 0) return std::nullopt;
    return static_cast<uint64_t>(*value);
  }
  const std::string text = may_be_text ? node.value_exact<std::string>().value_or("") : "";
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <std::unsigned_integral T>
T read_number(const std::string& name, const toml::node& node, Range range) {
  constexpr uint64_t kMost = std::numeric_limits<T>::max();
  const auto low = static_cast<uint64_t>(range.low);
  const uint64_t high = range.high < static_cast<double>(kMost) ? static_cast<uint64_t>(range.high) : kMost;
  const std::optional<uint64_t> value = whole_number(node, std::is_same_v<T, uint64_t>);
  if (!value || *value < low || *value > high)
    throw bad_request(name, fmt::format("must be a whole number from {} to {}", low, high));
  return static_cast<T>(*value);
}

std::vector<double> read_numbers(const std::string& name, const toml::node& node, Range range) {
  const toml::array* list = node.as_array();
  if (list == nullptr) throw bad_request(name, "must be a list of numbers, as in [1.0, 0.5]");
  std::vector<double> numbers;
  for (const toml::node& item : *list) numbers.push_back(read_number<double>(name, item, range));
  return numbers;
}

std::string print_numbers(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : ", ") + print_number(number);
  return "[" + text + "]";
}

TargetAccuracy read_target(const std::string& name, const toml::node& node) {
  if (node.is_number()) return {.value = read_number<double>(name, node, kFraction), .times_chance = false};
  const std::string text = node.value<std::string>().value_or("");
  double times = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), times);
  if (code != std::errc() || std::string_view(end) != "x" || !(times > 0 && times < kAny.high)) {
    throw bad_request(name, "must be an accuracy like 0.3, or a multiple of chance like \"20x\"");
  }
  return {.value = times, .times_chance = true};
}

// `get` returns a reference to the field of a Config.
template <typename Get>
Key key(std::string name, Get get, std::string help, bool fixed = true, Range range = kAny) {
  using T = std::remove_cvref_t<decltype(get(std::declval<Config&>()))>;
  constexpr bool kNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  constexpr bool kText = std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>;
  Key k{name, std::move(help), fixed, kText, {}, std::is_integral_v<T>, {}, {}};
  if (kNumber) k.number = range;
  k.read = [=](Config& config, const toml::node& node) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!node.is_boolean()) throw bad_request(name, "must be true or false");
      get(config) = node.value<bool>().value();
    } else if constexpr (std::is_arithmetic_v<T>) {
      get(config) = read_number<T>(name, node, range);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      get(config) = read_numbers(name, node, range);
    } else if constexpr (std::is_same_v<T, TargetAccuracy>) {
      get(config) = read_target(name, node);
    } else {
      if (!node.is_string()) throw bad_request(name, "must be a text");
      get(config) = node.value<std::string>().value();
    }
  };
  k.print = [=](const Config& config) {
    const T& value = get(const_cast<Config&>(config));
    if constexpr (std::is_same_v<T, bool>) {
      return std::string(value ? "true" : "false");
    } else if constexpr (std::is_same_v<T, float>) {
      return print_number(number_in(fmt::format("{}", value)));
    } else if constexpr (std::is_floating_point_v<T>) {
      return print_number(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      const bool fits = static_cast<uint64_t>(value) <= std::numeric_limits<int64_t>::max();
      return fits ? fmt::format("{}", value) : quoted(fmt::format("{}", value));
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      return print_numbers(value);
    } else if constexpr (std::is_same_v<T, TargetAccuracy>) {
      return value.times_chance ? quoted(fmt::format("{}x", value.value)) : print_number(value.value);
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      return quoted(value.string());
    } else {
      return quoted(value);
    }
  };
  return k;
}

// clang-format off
#define FIELD(path) ([](Config& c) -> auto& { return c.path; })
const std::vector<Key>& keys() {
  static const std::vector<Key> table{
      key("model.name", FIELD(model.name), "which network of the model zoo"),
      key("model.file", FIELD(model.file), "a network of your own instead, as a TOML file", false),
      key("data.source", FIELD(data.source), "where the clients' examples come from"),
      key("data.path", FIELD(data.path), "the folder of a source that reads files", false),
      key("data.min_samples", FIELD(data.min_samples), "clients with fewer examples are left out"),
      key("data.writers", FIELD(data.writers), "glyphs: how many writers there are", true, kCount),
      key("data.seed", FIELD(data.seed), "glyphs: which writers; dealt images: whose; all: which are for testing"),
      key("data.test_fraction", FIELD(data.test_fraction), "of each client's examples; data with a split of their own keep it", true, kFraction),
      key("data.partition", FIELD(data.partition), "idx, cifar: whose images they are: auto (their writers'), or dealt: iid, dirichlet or shards"),
      key("data.clients", FIELD(data.clients), "how many clients share images that are dealt", true, kCount),
      key("data.dirichlet", FIELD(data.dirichlet), "dirichlet: how alike the clients' classes are; small is few classes each", true, {1e-3, 1e6}),
      key("data.shards", FIELD(data.shards), "shards: how many pieces of the images sorted by class a client has", true, kCount),
      key("data.transpose", FIELD(data.transpose), "idx: rows and columns change places, as EMNIST's own files need it"),
      key("data.raw_polarity", FIELD(data.raw_polarity), "idx, leaf, hdf5: x = the pixel, from 0 to 1, instead of 1 - the pixel"),
      key("data.window_step", FIELD(data.window_step), "text: characters from one window to the next", true, kCount),
      key("code.family", FIELD(code.family), "how the masks are made; see 'subfleet codes --list'"),
      key("code.keep", FIELD(code.keep), "kept fraction of the units of a droppable layer", true, kFraction),
      key("code.rescale", FIELD(code.rescale), "while a sub-model trains, a layer's outputs are divided by the kept part of its units"),
      key("code.tiers", FIELD(code.tiers), "strong and weak clients, equally many of each: the share of its code word that each keeps", true, kFraction),
      key("wire.down", FIELD(wire.down), "how weights travel to a client: f32, f16, int8, or rot1 to rot8, rotated and in so many bits each"),
      key("wire.up", FIELD(wire.up), "how a client's update travels back; the same names"),
      key("round.clients", FIELD(round.clients), "clients per round", true, kClients),
      key("round.epochs", FIELD(round.epochs), "passes of a client over its examples", true, kCount),
      key("round.batch", FIELD(round.batch), "examples per step", true, {1, 4096}),
      key("round.client_lr", FIELD(round.client_lr), "the clients' learning rate", true, {1e-9, 1e6}),
      later(key("round.schedule", FIELD(schedules.clients.schedule), "what becomes of the clients' rate over the rounds: see server.schedule")),
      later(key("round.warmup", FIELD(schedules.clients.warmup), "rounds in which the clients' rate rises", true, {0, 4e9})),
      later(key("round.final", FIELD(schedules.clients.final), "share of the clients' rate at the horizon", true, kFinal)),
      key("round.momentum", FIELD(round.momentum), "of the clients' steps; starts anew in every round", true, kFraction),
      key("round.weight_decay", FIELD(round.weight_decay), "times the weight, added to its gradient in the clients' steps", true, {0, 1e6}),
      key("round.proximal", FIELD(round.proximal), "FedProx's mu: times how far a weight is from the one that was given, added to its gradient", true, {0, 1e6}),
      key("round.shuffle", FIELD(round.shuffle), "false keeps the data's order"),
      later(key("round.flip", FIELD(round.flip), "pictures are mirrored half of the time, each time that they are seen")),
      later(key("round.crop", FIELD(round.crop), "pictures are moved by up to so many pixels in each direction, as a crop out of a padded picture", true, {0, 1024})),
      key("round.deadline", FIELD(round.deadline), "devices: seconds after which a round goes on without those who have not answered; 0 is never", false, {0, 1e6}),
      key("round.min_replies", FIELD(round.min_replies), "devices: the share of a round's clients that must be trained; the others are asked again, and after three times the run stops", false, kFraction),
      key("server.optimizer", FIELD(server.optimizer), "fedavg, fedadam, fedadagrad, fedyogi or fedexp"),
      key("server.lr", FIELD(server.lr), "the server's learning rate; 0 is the optimizer's default", true, {0, 1e6}),
      later(key("server.schedule", FIELD(schedules.server.schedule), "what becomes of the rate over the rounds: constant, cosine, linear, step (two drops) or inverse-sqrt")),
      later(key("server.warmup", FIELD(schedules.server.warmup), "rounds in which the rate rises", true, {0, 4e9})),
      later(key("server.final", FIELD(schedules.server.final), "share of the rate at the horizon", true, kFinal)),
      later(key("server.horizon", FIELD(schedules.horizon), "the round in which schedules end; 0 is run.rounds as the run begins", true, {0, 4e9})),
      later(key("server.average", FIELD(server.average), "decay per round of a mean of the weights, as in 0.95, which is tested and saved as the model; 0 turns it off", true, {0, 0.999999})),
      key("server.beta1", FIELD(server.beta1), "momentum", true, {0, 0.999999}),
      key("server.beta2", FIELD(server.beta2), "decay of the second moment", true, {0, 0.999999}),
      key("server.tau", FIELD(server.tau), "adaptivity; fedexp: added to its divisor", true, {1e-12, 1e6}),
      key("server.mean", FIELD(server.mean), "a weight's update is averaged over those who held it ('holders') or over 'all' clients of the round, as the paper's equations have it"),
      key("server.unheld", FIELD(server.unheld), "a weight nobody held: 'freeze' or 'decay'"),
      key("run.rounds", FIELD(run.rounds), "rounds in all", false, kCount),
      key("run.seed", FIELD(run.seed), "names every random choice of the run"),
      key("run.first_draw", FIELD(run.first_draw), "as many draws of clients, masks and orders are passed over; the candidates of a search differ in it", true, {0, 2e9}),
      key("run.eval_every", FIELD(run.eval_every), "rounds between two tests", false, kCount),
      key("run.metrics", FIELD(run.metrics), "figures of a program's own that are measured with each test, as \"f1, recall\"", false),
      key("run.eval_samples", FIELD(run.eval_samples), "test with about so many examples; 0 is all of them", false),
      key("run.checkpoint_every", FIELD(run.checkpoint_every), "rounds between two checkpoints", false, kCount),
      key("tune.method", FIELD(tune.method), "what is searched: the rate with the fastest start, as in the 'paper', or by 'halving' the one that ends best after run.rounds", false),
      key("tune.average", FIELD(tune.average), "halving: where neither server.schedule nor server.average is set, average the weights over the last eighth of the run", false),
      key("tune.parameter", FIELD(tune.parameter), "the setting that 'subfleet tune' searches, in log10", false),
      key("tune.start", FIELD(tune.start), "the first value tried; 0 is the one that the setting has", false),
      key("tune.delta", FIELD(tune.delta), "from one of the first candidates to the next, in log10", false, {1e-3, 10}),
      key("tune.steps", FIELD(tune.steps), "refinements after the first step, each with half the delta", false, {0, 20}),
      key("tune.outward", FIELD(tune.outward), "most moves past the edge while the best candidate stands there", false, {0, 20}),
      key("tune.target", FIELD(tune.target), "the training accuracy to reach, or a multiple of chance", false),
      key("tune.window", FIELD(tune.window), "over how many rounds that accuracy is the mean", false, kCount),
      key("tune.max_rounds", FIELD(tune.max_rounds), "of a candidate; 0 is run.rounds", false),
      key("tune.ties", FIELD(tune.ties), "of equally fast candidates the more 'accurate' wins, or the 'first' that was tried, as the paper has it", false),
  };
  return table;
}
#undef FIELD
// clang-format on

constexpr std::string_view kLayers = "code.layers.";

// The family or the kept fraction of one layer; what is not set prints as nothing.
Key layer_key(const std::string& layer, std::string_view field) {
  Key k{fmt::format("{}{}.{}", kLayers, layer, field),
        "of this layer alone",
        true,
        field == "family",
        field == "keep" ? std::optional(kFraction) : std::nullopt,
        false,
        {},
        {}};
  const auto code_of = [layer](const Config& config) {
    const auto found = config.code.layers.find(layer);
    return found == config.code.layers.end() ? LayerCode{} : found->second;
  };
  if (field == "family") {
    k.read = [layer, name = k.name](Config& config, const toml::node& node) {
      if (!node.is_string() || node.value<std::string>()->empty())
        throw bad_request(name, "must name a family");
      config.code.layers[layer].family = node.value<std::string>().value();
    };
    k.print = [code_of](const Config& config) {
      const std::string family = code_of(config).family;
      return family.empty() ? family : quoted(family);
    };
  } else {
    k.read = [layer, name = k.name](Config& config, const toml::node& node) {
      const auto keep = read_number<double>(name, node, kFraction);
      if (keep == 0) throw bad_request(name, "0 is not a fraction above 0 and up to 1");
      config.code.layers[layer].keep = keep;
    };
    k.print = [code_of](const Config& config) {
      const double keep = code_of(config).keep;
      return keep == 0 ? std::string() : print_number(keep);
    };
  }
  return k;
}

// The table's settings and, behind the code's, those of single layers that are set.
std::vector<Key> keys_of(const Config& config) {
  std::vector<Key> all;
  for (const Key& k : keys()) {
    all.push_back(k);
    if (k.name != "code.tiers") continue;
    for (const auto& [layer, code] : config.code.layers) {
      if (!code.family.empty()) all.push_back(layer_key(layer, "family"));
      if (code.keep != 0) all.push_back(layer_key(layer, "keep"));
    }
  }
  return all;
}

// "code.layers.conv2.keep"; whether the model has that layer shows when the configuration is whole.
Key find_layer_key(std::string_view name) {
  const std::string_view rest = name.substr(std::min(name.size(), kLayers.size()));
  const size_t dot = rest.find('.');
  const std::string_view layer = rest.substr(0, dot);
  const std::string_view field = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  const bool named = !layer.empty() && std::all_of(layer.begin(), layer.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!named || (field != "family" && field != "keep")) {
    throw bad_request("setting",
                      fmt::format("'{0}' is neither {1}LAYER.family nor {1}LAYER.keep", name, kLayers));
  }
  return layer_key(std::string(layer), field);
}

Key find_key(std::string_view name) {
  if (name.starts_with(kLayers) || name == kLayers.substr(0, kLayers.size() - 1)) return find_layer_key(name);
  std::vector<std::string> known;
  for (const Key& k : keys()) {
    if (k.name == name) return k;
    known.push_back(k.name);
  }
  known.push_back(fmt::format("{}LAYER.family", kLayers));
  known.push_back(fmt::format("{}LAYER.keep", kLayers));
  throw unknown_name("setting", name, known);
}

void check_schedule(std::string_view section, const ScheduleOptions& options, const Config& config) {
  const std::vector<std::string> names = schedule_names();
  if (std::ranges::find(names, options.schedule) == names.end())
    throw unknown_name(fmt::format("{}.schedule", section), options.schedule, names);
  const uint32_t horizon = config.schedules.horizon == 0 ? config.run.rounds : config.schedules.horizon;
  if (options.warmup >= horizon && needs_horizon(options)) {
    throw bad_request(fmt::format("{}.warmup", section),
                      fmt::format("{} rounds leave nothing of the {} until the horizon; it must be lower, or "
                                  "server.horizon higher",
                                  options.warmup, horizon));
  }
}

}  // namespace

std::vector<Setting> settings(const Config& config) {
  std::vector<Setting> all;
  for (const Key& k : keys_of(config)) all.push_back({k.name, k.print(config), k.help});
  return all;
}

void set(Config& config, std::string_view name, std::string_view value) {
  const Key k = find_key(name);
  if (printable(value) != value) throw bad_request(name, "must be plain text in UTF-8");
  toml::table table;
  try {
    table = parse_toml(fmt::format("value = {}", value), name);
  } catch (const Error&) {
    table.insert("value", std::string(value));
  }
  if (k.text && !table.get("value")->is_string()) table.insert_or_assign("value", std::string(value));
  k.read(config, *table.get("value"));
}

NumericSetting numeric_setting(const Config& config, std::string_view name) {
  const Key k = find_key(name);
  const std::string text = k.number && k.fixed ? k.print(config) : "";
  if (text.empty()) throw bad_request(name, "is no number that decides how a model learns, as server.lr is");
  return {.value = number_in(text), .low = k.number->low, .high = k.number->high, .whole = k.whole};
}

Config parse_config(std::string_view text, std::string_view source) {
  return read_config(parse_toml(text, source), source);
}

Config read_config(const toml::table& table, std::string_view source) {
  Config config;
  try {
    for_each_value(
        table, [&](const std::string& name, const toml::node& value) { find_key(name).read(config, value); });
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  return config;
}

std::string to_toml(const Config& config) {
  std::string text, section;
  for (const Key& k : keys_of(config)) {
    const size_t dot = k.name.find('.');
    if (k.name.substr(0, dot) != section) {
      if (!text.empty()) text += '\n';
      section = k.name.substr(0, dot);
      text += fmt::format("[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", k.name.substr(dot + 1), k.print(config));
  }
  return text;
}

FixedSettings fixed_settings(const Config& config) {
  FixedSettings fixed;
  for (const Key& k : keys_of(config)) {
    if (k.fixed) fixed.emplace(k.name, k.print(config));
  }
  return fixed;
}

void add_later_settings(FixedSettings& saved) {
  for (const Key& k : keys()) {
    if (k.later) saved.emplace(k.name, k.print(Config()));
  }
}

std::optional<std::string> first_difference(const FixedSettings& before, const FixedSettings& after) {
  for (const auto& [name, value] : before) {
    const auto found = after.find(name);
    if (found == after.end() || found->second != value) return name;
  }
  for (const auto& [name, value] : after) {
    if (!before.contains(name)) return name;
  }
  return std::nullopt;
}

double server_rate(const Config& config, uint32_t round) {
  const double rate = config.server.lr == 0 ? default_server_lr(config.server.optimizer) : config.server.lr;
  return rate * share_of_rate(config.schedules.server, round, config.schedules.horizon);
}

float client_rate(const Config& config, uint32_t round) {
  return static_cast<float>(config.round.client_lr *
                            share_of_rate(config.schedules.clients, round, config.schedules.horizon));
}

void resolve_horizon(Config& config) {
  const bool needed = needs_horizon(config.schedules.server) || needs_horizon(config.schedules.clients);
  if (needed && config.schedules.horizon == 0) config.schedules.horizon = config.run.rounds;
}

void validate(Config& config) {
  const ModelSpec model = resolve_model(config.model);
  config.model.name = model.name;
  check_code(model, config.code);
  check_augmentation(config.round, model);
  find_codec(config.wire.down);
  find_codec(config.wire.up);
  if (config.server.mean != "holders" && config.server.mean != "all")
    throw unknown_name("server.mean", config.server.mean, std::vector<std::string>{"holders", "all"});
  if (config.tune.ties != "accurate" && config.tune.ties != "first") {
    throw unknown_name("tune.ties", config.tune.ties, std::vector<std::string>{"accurate", "first"});
  }
  if (config.server.unheld != "freeze" && config.server.unheld != "decay") {
    throw unknown_name("server.unheld", config.server.unheld, std::vector<std::string>{"freeze", "decay"});
  }
  check_schedule("server", config.schedules.server, config);
  check_schedule("round", config.schedules.clients, config);
  if (config.tune.method != "paper" && config.tune.method != "halving")
    throw unknown_name("tune.method", config.tune.method, std::vector<std::string>{"paper", "halving"});
  const double default_lr = default_server_lr(config.server.optimizer);
  if (config.server.lr == 0) config.server.lr = default_lr;
}

}  // namespace subfleet
