#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "subfleet/code_options.h"
#include "subfleet/codes.h"
#include "subfleet/submodel.h"

namespace subfleet {

// What the clients of one round keep of every droppable layer: one code book per layer, and in each word the
// units that weaker tiers give up. A pure function of its arguments, so a device makes the same from the few
// numbers in a message.
class RoundMasks {
 public:
  // `rows` clients take part. Throws Error like check_code().
  RoundMasks(const ModelSpec& model, const CodeOptions& code, uint64_t seed, uint32_t round, uint32_t rows);

  // One per droppable layer: whole code words, whatever the tiers.
  const std::vector<CodeBook>& books() const { return books_; }

  uint32_t rows() const { return rows_; }

  // The units of every droppable layer that `client` keeps when it gets that row. In a weaker tier it keeps
  // the first of its word's units in the family's order, so the sub-models of one word's tiers are nested.
  // Throws Error for a row that the books do not have.
  std::vector<std::vector<uint32_t>> kept(uint32_t row, uint32_t client) const;

  // The sub-model of these units.
  SubModel submodel(uint32_t row, uint32_t client) const { return {model_, kept(row, client), rescale_}; }

 private:
  ModelSpec model_;
  std::vector<double> tiers_;
  bool rescale_;
  uint64_t seed_;
  uint32_t rows_;
  std::vector<CodeBook> books_;
  std::vector<std::vector<uint32_t>> orders_;  // of the units of each layer; empty without tiers
};

// Which of the tiers a client is in, the same in every round: drawn from (seed, client), each equally likely.
size_t client_tier(size_t tiers, uint64_t seed, uint32_t client);

// The sub-models of one round; clients[k] has row k.
std::vector<SubModel> draw_submodels(const ModelSpec& model, const CodeOptions& code, uint64_t seed,
                                     uint32_t round, std::span<const uint32_t> clients);

// Throws Error unless every droppable layer's family can mask it, code.layers names droppable layers alone
// and the tiers are fractions.
void check_code(const ModelSpec& model, const CodeOptions& code);

}  // namespace subfleet
