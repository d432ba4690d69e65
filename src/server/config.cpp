#include "subfleet/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <sstream>
#include <type_traits>

#include "subfleet/codes.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet {
namespace {

struct Range {
  double low, high;
};
constexpr Range kAny{0, std::numeric_limits<double>::infinity()};
constexpr Range kCount{1, 4e9};
constexpr Range kFraction{0, 1};

// A row of the table of settings.
struct Key {
  std::string name;
  std::string help;
  bool fixed;  // cannot change once a run has begun
  bool text;
  std::function<void(Config&, const toml::node&)> read;
  std::function<std::string(const Config&)> print;
};

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

std::string print_number(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <std::floating_point T>
T read_number(const std::string& name, const toml::node& node, Range range) {
  if (!node.is_number()) throw bad_request(name, "must be a number");
  const double value = node.value<double>().value();
  if (!(value >= range.low && value <= range.high)) {
    throw bad_request(name, fmt::format("{} is not between {} and {}", value, range.low, range.high));
  }
  return static_cast<T>(value);
}

template <std::unsigned_integral T>
T read_number(const std::string& name, const toml::node& node, Range range) {
  if (!node.is_integer()) throw bad_request(name, "must be a whole number");
  const int64_t value = node.value<int64_t>().value();
  constexpr auto kMost = static_cast<int64_t>(
      std::min<uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<int64_t>::max()));
  const auto low = static_cast<int64_t>(range.low);
  const int64_t high = range.high < static_cast<double>(kMost) ? static_cast<int64_t>(range.high) : kMost;
  if (value < low || value > high) {
    throw bad_request(name, fmt::format("{} is not between {} and {}", value, low, high));
  }
  return static_cast<T>(value);
}

// `get` returns a reference to the field of a Config.
template <typename Get>
Key key(std::string name, Get get, std::string help, bool fixed = true, Range range = kAny) {
  using T = std::remove_cvref_t<decltype(get(std::declval<Config&>()))>;
  Key k{name, std::move(help), fixed, !std::is_arithmetic_v<T>, {}, {}};
  k.read = [=](Config& config, const toml::node& node) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!node.is_boolean()) throw bad_request(name, "must be true or false");
      get(config) = node.value<bool>().value();
    } else if constexpr (std::is_arithmetic_v<T>) {
      get(config) = read_number<T>(name, node, range);
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
      return print_number(std::stod(fmt::format("{}", value)));
    } else if constexpr (std::is_floating_point_v<T>) {
      return print_number(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return fmt::format("{}", value);
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
      key("model.name", FIELD(model), "which network of the model zoo"),
      key("data.source", FIELD(data.source), "where the clients' examples come from"),
      key("data.path", FIELD(data.path), "the folder of a source that reads files", false),
      key("data.min_samples", FIELD(data.min_samples), "clients with fewer examples are left out"),
      key("data.writers", FIELD(data.writers), "glyphs: how many writers there are", true, kCount),
      key("data.seed", FIELD(data.seed), "glyphs: which writers; all: which examples are for testing"),
      key("data.test_fraction", FIELD(data.test_fraction), "of each client's examples", true, kFraction),
      key("data.raw_polarity", FIELD(data.raw_polarity), "idx: x = byte / 255 instead of 1 - byte / 255"),
      key("code.family", FIELD(code.family), "how the masks are made; see 'subfleet codes --list'"),
      key("code.keep", FIELD(code.keep), "kept fraction of the units of a droppable layer", true, kFraction),
      key("round.clients", FIELD(clients), "clients a round", true, kCount),
      key("round.epochs", FIELD(local.epochs), "passes of a client over its examples", true, kCount),
      key("round.batch", FIELD(local.batch), "examples a step", true, {1, 4096}),
      key("round.client_lr", FIELD(local.client_lr), "the clients' learning rate", true, {0, 1e6}),
      key("round.shuffle", FIELD(local.shuffle), "false keeps the data's order"),
      key("server.optimizer", FIELD(server.optimizer), "fedavg, fedadam, fedadagrad or fedyogi"),
      key("server.lr", FIELD(server.lr), "the server's learning rate; 0 is the optimizer's default", true, {0, 1e6}),
      key("server.beta1", FIELD(server.beta1), "momentum", true, {0, 0.999999}),
      key("server.beta2", FIELD(server.beta2), "decay of the second moment", true, {0, 0.999999}),
      key("server.tau", FIELD(server.tau), "adaptivity", true, {1e-12, 1e6}),
      key("server.unheld", FIELD(server.unheld), "a weight nobody held: 'freeze' or 'decay'"),
      key("run.rounds", FIELD(run.rounds), "rounds in all", false, kCount),
      key("run.seed", FIELD(run.seed), "names every random choice of the run"),
      key("run.eval_every", FIELD(run.eval_every), "rounds between two tests", false, kCount),
      key("run.eval_samples", FIELD(run.eval_samples), "test with about so many examples; 0 is all of them", false),
      key("run.checkpoint_every", FIELD(run.checkpoint_every), "rounds between two checkpoints", false, kCount),
  };
  return table;
}
#undef FIELD
// clang-format on

const Key& find_key(std::string_view name) {
  std::vector<std::string> known;
  for (const Key& k : keys()) {
    if (k.name == name) return k;
    known.push_back(k.name);
  }
  throw unknown_name("setting", name, known);
}

void read_table(Config& config, const toml::table& table, const std::string& prefix) {
  for (const auto& [name, node] : table) {
    const std::string full = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      read_table(config, *inner, full + ".");
    } else {
      find_key(full).read(config, node);
    }
  }
}

}  // namespace

std::vector<Setting> settings(const Config& config) {
  std::vector<Setting> all;
  for (const Key& k : keys()) all.push_back({k.name, k.print(config), k.help});
  return all;
}

void set(Config& config, std::string_view name, std::string_view value) {
  const Key& k = find_key(name);
  toml::table table;
  try {
    table = toml::parse(fmt::format("value = {}", value));
  } catch (const toml::parse_error&) {
    table.insert("value", std::string(value));
  }
  if (k.text && !table.get("value")->is_string()) table.insert_or_assign("value", std::string(value));
  k.read(config, *table.get("value"));
}

Config parse_config(std::string_view text, std::string_view source) {
  Config config;
  try {
    read_table(config, toml::parse(text, source), "");
  } catch (const toml::parse_error& error) {
    throw bad_request(source, fmt::format("line {}: {}", error.source().begin.line, error.description()));
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  return config;
}

std::string to_toml(const Config& config) {
  std::string text, section;
  for (const Key& k : keys()) {
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

std::map<std::string, std::string> fixed_settings(const Config& config) {
  std::map<std::string, std::string> fixed;
  for (const Key& k : keys()) {
    if (k.fixed) fixed.emplace(k.name, k.print(config));
  }
  return fixed;
}

void validate(Config& config) {
  const ModelSpec model = find_model(config.model);
  const CodeFamily& family = code_family(config.code.family);
  for (const size_t layer : droppable_layers(model))
    family.weight(model.layers[layer].units, config.code.keep);
  if (config.server.unheld != "freeze" && config.server.unheld != "decay") {
    throw unknown_name("server.unheld", config.server.unheld, std::vector<std::string>{"freeze", "decay"});
  }
  const double default_lr = default_server_lr(config.server.optimizer);
  if (config.server.lr == 0) config.server.lr = default_lr;
}

}  // namespace subfleet
