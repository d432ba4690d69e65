#pragma once

#include <map>
#include <string>
#include <vector>

namespace subfleet {

// The code of one layer where it differs from the others'.
struct LayerCode {
  std::string family = {};  // empty: code.family
  double keep = 0;          // 0: code.keep
  bool operator==(const LayerCode&) const = default;
};

struct CodeOptions {
  std::string family = "gold";
  double keep = 0.5;
  std::map<std::string, LayerCode> layers = {};  // by the name of a droppable layer
  std::vector<double> tiers = {};                // of each group of clients: the share of its word it keeps
  bool rescale = true;  // while a sub-model trains, a layer's outputs are divided by the kept part of it

  // Family and kept fraction of that layer.
  LayerCode of(const std::string& layer) const;
  bool operator==(const CodeOptions&) const = default;
};

}  // namespace subfleet
