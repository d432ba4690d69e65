#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Runs that differ in little but their seeds, made side by side.
namespace subfleet::cli {

// --together: how many at once.
struct TogetherOption {
  size_t given = 0;  // 0: not

  void add_to(CLI::App& command);
  // A GPU has too little to do with the clients of one round; a processor does not gain.
  size_t runs(const std::string& device) const {
    constexpr size_t kOnGpu = 5;
    if (given != 0) return given;
    return device.starts_with("cuda") ? kOnGpu : 1;
  }
};

// The first of `items` and those after it with the same key, at most so many, taken out of `items`.
template <typename Item, typename Key>
std::vector<Item> take_group(std::vector<Item>& items, size_t most, const Key& key) {
  const auto first = key(items.front());
  std::vector<Item> group, rest;
  for (Item& item : items) {
    const bool joins = group.size() < most && key(item) == first;
    (joins ? group : rest).push_back(std::move(item));
  }
  items = std::move(rest);
  return group;
}

// What is shown of a group: "3/40 gold, seed 2", or "3-7/40 gold, seeds 1, 2, 3, 4, 5"; `done` of `all` are
// made before it.
std::string group_title(size_t done, size_t all, const std::string& name, std::span<const uint64_t> seeds);

}  // namespace subfleet::cli
