#include "subfleet/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <set>

#include "base/toml_text.h"
#include "server/config_table.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "sweep/plan_table.h"

namespace subfleet {
namespace {

constexpr size_t kMostRuns = 10'000;
constexpr size_t kLongestName = 100;
constexpr int64_t kMostMembers = 100;

// Adds the values of a table, under their dotted names, over what `into` holds.
void flatten(const toml::table& table, toml::table& into) {
  for_each_value(
      table, [&](const std::string& name, const toml::node& value) { into.insert_or_assign(name, value); });
}

const toml::table* table_at(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (node != nullptr && !node->is_table()) throw bad_request(key, "must be a table of settings");
  return node == nullptr ? nullptr : node->as_table();
}

std::string text_at(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const auto text = node->value_exact<std::string>();
  if (!text || text->empty() || one_line(*text) != *text) throw bad_request(key, "must be a line of text");
  return *text;
}

std::vector<uint64_t> seeds_of(const toml::table& file) {
  constexpr auto kRule = "must be a list of different whole numbers, as in [1, 2, 3]";
  const toml::array* list = file["seeds"].as_array();
  if (list == nullptr || list->empty()) throw bad_request("seeds", kRule);
  std::vector<uint64_t> seeds;
  for (const toml::node& node : *list) {
    const auto seed = node.value_exact<int64_t>();
    if (!seed || *seed < 0) throw bad_request("seeds", kRule);
    if (std::ranges::find(seeds, static_cast<uint64_t>(*seed)) != seeds.end())
      throw bad_request("seeds", kRule);
    seeds.push_back(static_cast<uint64_t>(*seed));
  }
  return seeds;
}

double target_of(const toml::table& file, double otherwise) {
  const toml::node* node = file.get("target");
  if (node == nullptr) return otherwise;
  const double target = node->is_number() ? node->value<double>().value_or(0) : 0;
  if (!(target > 0 && target <= 2)) {
    throw bad_request("target",
                      "must be a number above 0 and up to 2: so many times the baseline's accuracy");
  }
  return target;
}

std::optional<uint32_t> last_rounds_of(const toml::table& file) {
  const toml::node* node = file.get("last_rounds");
  if (node == nullptr) return std::nullopt;
  const int64_t rounds = node->value_exact<int64_t>().value_or(0);
  if (rounds < 1 || rounds > 4'000'000'000) throw bad_request("last_rounds", "must be a whole number from 1");
  return static_cast<uint32_t>(rounds);
}

// A name, and the settings by their dotted names.
struct NamedSettings {
  std::string name;
  toml::table settings;
  bool drawn = true;
  uint32_t members = 1;
};

uint32_t members_of(const toml::table& run) {
  const toml::node* node = run.get("members");
  if (node == nullptr) return 1;
  const int64_t members = node->value_exact<int64_t>().value_or(0);
  if (members < 2 || members > kMostMembers)
    throw bad_request("members", fmt::format("must be a whole number from 2 to {}", kMostMembers));
  return static_cast<uint32_t>(members);
}

std::vector<NamedSettings> runs_of(const toml::table& file) {
  toml::table common;
  if (const toml::table* settings = table_at(file, "settings")) flatten(*settings, common);
  const toml::node* node = file.get("run");
  if (node == nullptr) return {{.name = "", .settings = common}};
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables()) throw bad_request("run", "write [[run]] for each run");
  std::vector<NamedSettings> runs;
  for (const toml::node& item : *list) {
    const toml::table& table = *item.as_table();
    check_keys(table, "key of a run", {"name", "settings", "drawn", "members"});
    NamedSettings run{.name = text_at(table, "name"), .settings = common, .members = members_of(table)};
    if (run.name.empty()) throw bad_request("run", "every [[run]] needs a name");
    if (const toml::table* settings = table_at(table, "settings")) flatten(*settings, run.settings);
    if (const toml::node* drawn = table.get("drawn")) {
      if (!drawn->is_boolean()) throw bad_request("drawn", "must be true or false");
      run.drawn = *drawn->value<bool>();
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

// Every run with every combination of the grid's values, which its name then tells.
std::vector<NamedSettings> multiply(std::vector<NamedSettings> runs, const toml::table& grid) {
  for (const auto& [key, node] : grid) {
    const toml::array* values = node.as_array();
    if (values == nullptr || values->empty())
      throw bad_request(fmt::format("grid: {}", key.str()), "must be a list of values");
    if (values->size() * runs.size() > kMostRuns)
      throw bad_request("grid", fmt::format("more than {} runs", kMostRuns));
    std::vector<NamedSettings> all;
    for (const NamedSettings& run : runs) {
      for (const toml::node& value : *values) {
        NamedSettings& one = all.emplace_back(run);
        one.name += fmt::format("{}{}={}", run.name.empty() ? "" : ", ", key.str(), value_text(value));
        one.settings.insert_or_assign(key, value);
      }
    }
    runs = std::move(all);
  }
  return runs;
}

Config checked_config(const NamedSettings& run, std::string_view source,
                      const std::function<void(Config&)>& change) {
  Config config = read_config(run.settings, source);
  try {
    change(config);
    if (config.run.seed != 0) throw bad_request("run.seed", "the list 'seeds' says which there are");
    validate(config);
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  return config;
}

void check_names(const std::vector<SweepRun>& runs) {
  std::set<std::string> slugs;
  for (const SweepRun& run : runs) {
    if (text_width(run.name) > kLongestName)
      throw bad_request("run", fmt::format("a name of more than {} letters", kLongestName));
    if (!slugs.insert(run.slug).second) {
      throw bad_request("run", fmt::format("'{}' is not the only run whose folders would be called {}-SEED",
                                           run.name, run.slug));
    }
  }
}

size_t find_run(const std::vector<SweepRun>& runs, const std::string& name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].name == name) return i;
    known.push_back(runs[i].name);
  }
  throw unknown_name("baseline", name, known);
}

}  // namespace

std::string slug_of(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.') {
      slug += static_cast<char>(std::tolower(byte));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() || slug.starts_with('.') ? "run" + slug : slug;
}

Config SweepPlan::config(size_t run, uint64_t seed) const {
  Config config = runs[run].config;
  config.run.seed = seed;
  const auto& winners = runs[run].winners;
  if (const auto winner = winners.find(seed); winner != winners.end()) {
    config.server.lr = winner->second.server_lr;
    config.run.first_draw += winner->second.first_draw;
  }
  return config;
}

std::string SweepPlan::folder(size_t run, uint64_t seed) const {
  return fmt::format("{}-{}", runs[run].slug, seed);
}

SweepPlan parse_sweep(std::string_view text, std::string_view source,
                      const std::function<void(Config&)>& change) {
  return read_sweep(parse_toml(text, source), source, change);
}

SweepPlan read_sweep(const toml::table& file, std::string_view source,
                     const std::function<void(Config&)>& change) {
  SweepPlan plan;
  std::vector<NamedSettings> runs;
  std::string baseline;
  try {
    check_keys(file, "key of a sweep",
               {"title", "seeds", "baseline", "target", "last_rounds", "settings", "run", "grid"});
    plan.title = text_at(file, "title");
    plan.seeds = seeds_of(file);
    plan.target = target_of(file, plan.target);
    plan.last_rounds = last_rounds_of(file);
    baseline = text_at(file, "baseline");
    runs = runs_of(file);
    if (const toml::table* grid = table_at(file, "grid")) {
      toml::table flat;
      flatten(*grid, flat);
      runs = multiply(std::move(runs), flat);
    }
    if (runs.front().name.empty()) throw bad_request("run", "there is none; write [[run]] or a [grid]");
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  for (const NamedSettings& run : runs) {
    plan.runs.push_back({run.name, slug_of(run.name),
                         checked_config(run, fmt::format("{}: run '{}'", source, one_line(run.name)), change),
                         run.drawn, run.members});
  }
  try {
    check_names(plan.runs);
    if (!baseline.empty()) plan.baseline = find_run(plan.runs, baseline);
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  if (plan.title.empty()) plan.title = "Accuracy over bytes";
  return plan;
}

uint64_t estimated_bytes(const Config& config) {
  std::vector<uint32_t> clients(config.round.clients);
  std::iota(clients.begin(), clients.end(), 0);
  const Codec &down = find_codec(config.wire.down), &up = find_codec(config.wire.up);
  uint64_t bytes = 0;
  for (const SubModel& part : draw_submodels(resolve_model(config.model), config.code, config.run.seed,
                                             config.run.first_draw, clients)) {
    bytes += down.encoded_size(part.size()) + up.encoded_size(part.size());
  }
  return bytes;
}

}  // namespace subfleet
