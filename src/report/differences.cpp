#include "subfleet/report/differences.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "subfleet/base/text.h"

namespace subfleet {
namespace {

std::optional<std::string> setting(const ReportedRun& run, const std::string& key) {
  const auto found = run.settings.find(key);
  return found == run.settings.end() ? std::nullopt : std::optional(found->second);
}

bool differs(std::span<const ReportedRun> runs, const std::string& key) {
  std::set<std::optional<std::string>> values;
  for (const auto& run : runs) {
    if (!run.settings.empty()) values.insert(setting(run, key));
  }
  return values.size() > 1;
}

using Lines = std::vector<std::vector<std::string>>;

size_t table_width(const Lines& lines) {
  const std::string table = align_table(lines, std::string(lines[0].size(), 'l'));
  size_t widest = 0;
  for (size_t start = 0; start < table.size();) {
    const size_t end = table.find('\n', start);
    widest = std::max(widest, text_width(std::string_view(table).substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

}  // namespace

bool decides_learning(const std::string& key) {
  return key != "data.path" && key != "run.checkpoint_every" && !key.starts_with("tune.");
}

SettingDifferences differing_settings(std::span<const ReportedRun> runs) {
  std::set<std::string> known;
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.settings) known.insert(key);
  }
  std::vector<std::string> keys;
  std::ranges::copy_if(known, std::back_inserter(keys), [&](const auto& key) { return differs(runs, key); });
  if (std::ranges::any_of(keys, decides_learning)) std::erase_if(keys, std::not_fn(decides_learning));

  SettingDifferences differences{.keys = std::move(keys), .values = {}};
  for (const auto& run : runs) {
    auto& values = differences.values.emplace_back();
    for (const auto& key : differences.keys) values.push_back(setting(run, key));
  }
  return differences;
}

std::string differences_table(std::span<const ReportedRun> runs, size_t width) {
  constexpr size_t kLongestName = 32, kLongestValue = 24;
  if (runs.size() < 2) return "";
  const auto differing = differing_settings(runs);
  const auto& keys = differing.keys;
  const auto& values = differing.values;
  if (keys.empty()) return "No setting differs between these runs.\n";

  Lines names{{"settings that differ"}};
  for (const auto& run : runs) names.push_back({clip_text(run.name, kLongestName)});
  const auto with_column = [&](Lines lines, size_t k) {
    lines[0].push_back(keys[k]);
    for (size_t i = 0; i < runs.size(); ++i)
      lines[i + 1].push_back(clip_text(values[i][k].value_or("-"), kLongestValue));
    return lines;
  };
  std::string text;
  const auto flush = [&](const Lines& lines) {
    text += (text.empty() ? "" : "\n") + align_table(lines, std::string(lines[0].size(), 'l'));
  };
  Lines block = names;
  for (size_t k = 0; k < keys.size(); ++k) {
    Lines wider = with_column(block, k);
    if (block[0].size() > 1 && table_width(wider) > width) {
      flush(block);
      wider = with_column(names, k);
    }
    block = std::move(wider);
  }
  flush(block);
  return text;
}

}  // namespace subfleet
