#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <mutex>

#include "subfleet/error.h"
#include "subfleet/run.h"

namespace subfleet {
namespace {

struct Metrics {
  std::mutex mutex;
  std::vector<std::pair<std::string, Metric>> all;
};

Metrics& metrics() {
  static Metrics known;
  return known;
}

bool is_word(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || c == '_' || c == '-';
  });
}

}  // namespace

void register_metric(const std::string& name, Metric metric) {
  if (!is_word(name))
    throw bad_request("metric", fmt::format("the name '{}' must be letters, digits, _ and -", name));
  Metrics& known = metrics();
  const std::lock_guard lock(known.mutex);
  for (const auto& [other, its] : known.all) {
    if (other == name)
      throw bad_request("metric", fmt::format("'{}' is there already; choose another name", name));
  }
  known.all.emplace_back(name, std::move(metric));
}

std::vector<std::pair<std::string, Metric>> metrics_of(const Config& config) {
  std::vector<std::pair<std::string, Metric>> chosen;
  const std::string& names = config.run.metrics;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    std::string name = names.substr(begin, end - begin);
    std::erase(name, ' ');
    begin = end + 1;
    Metrics& known = metrics();
    const std::lock_guard lock(known.mutex);
    const auto found = std::ranges::find(known.all, name, &std::pair<std::string, Metric>::first);
    if (found == known.all.end()) {
      throw bad_request("run.metrics", fmt::format("'{}' is not registered in this program, as "
                                                   "subfleet.register_metric does (docs/python.md)",
                                                   name));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace subfleet
