#include "subfleet/round_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

// The first `count` units of the order that are in the word, ascending.
std::vector<uint32_t> first_of(const CodeBook& book, uint32_t row, const std::vector<uint32_t>& order,
                               size_t count) {
  std::vector<uint32_t> units;
  units.reserve(count);
  for (const uint32_t unit : order) {
    if (units.size() == count) break;
    if (book.bit(row, unit)) units.push_back(unit);
  }
  std::sort(units.begin(), units.end());
  return units;
}

}  // namespace

RoundMasks::RoundMasks(const ModelSpec& model, const CodeOptions& code, uint64_t seed, uint32_t round,
                       uint32_t rows)
    : model_(model), tiers_(code.tiers), rescale_(code.rescale), seed_(seed) {
  check_code(model, code);
  for (const size_t index : droppable_layers(model)) {
    const LayerSpec& layer = model.layers[index];
    const LayerCode own = code.of(layer.name);
    const CodeFamily& family = code_family(own.family);
    const BookRequest request{.length = layer.units,
                              .rows = rows,
                              .keep = own.keep,
                              .seed = seed,
                              .round = round,
                              .layer = static_cast<uint32_t>(books_.size())};
    books_.push_back(family.draw(request));
    if (!tiers_.empty()) orders_.push_back(family.order(request));
  }
}

std::vector<std::vector<uint32_t>> RoundMasks::kept(uint32_t row, uint32_t client) const {
  std::vector<std::vector<uint32_t>> kept;
  kept.reserve(books_.size());
  for (size_t layer = 0; layer < books_.size(); ++layer) {
    const CodeBook& book = books_[layer];
    if (tiers_.empty()) {
      kept.push_back(book.kept(row));
      continue;
    }
    const double share = tiers_[client_tier(tiers_.size(), seed_, client)];
    const auto count = static_cast<size_t>(std::llround(share * static_cast<double>(book.weight(row))));
    kept.push_back(first_of(book, row, orders_[layer], std::max<size_t>(count, 1)));
  }
  return kept;
}

size_t client_tier(size_t tiers, uint64_t seed, uint32_t client) {
  Random random({.seed = seed, .client = client, .purpose = Purpose::kTier});
  return random.below(static_cast<uint32_t>(tiers));
}

std::vector<SubModel> draw_submodels(const ModelSpec& model, const CodeOptions& code, uint64_t seed,
                                     uint32_t round, std::span<const uint32_t> clients) {
  const RoundMasks masks(model, code, seed, round, static_cast<uint32_t>(clients.size()));
  std::vector<SubModel> submodels;
  submodels.reserve(clients.size());
  for (uint32_t row = 0; row < clients.size(); ++row) submodels.push_back(masks.submodel(row, clients[row]));
  return submodels;
}

void check_code(const ModelSpec& model, const CodeOptions& code) {
  std::vector<std::string> droppable;
  for (const size_t layer : droppable_layers(model)) droppable.push_back(model.layers[layer].name);
  for (const auto& [name, own] : code.layers) {
    if (std::find(droppable.begin(), droppable.end(), name) != droppable.end()) continue;
    if (droppable.empty())
      throw bad_request("code.layers", fmt::format("{} has no droppable layers", model.name));
    throw unknown_name("code.layers", name, droppable);
  }
  code_family(code.family);
  for (const size_t layer : droppable_layers(model)) {
    const LayerCode own = code.of(model.layers[layer].name);
    code_family(own.family).weight(model.layers[layer].units, own.keep);
  }
  for (const double share : code.tiers) {
    if (share > 0 && share <= 1) continue;
    throw bad_request("code.tiers", fmt::format("{} is not a fraction above 0 and up to 1", share));
  }
}

}  // namespace subfleet
