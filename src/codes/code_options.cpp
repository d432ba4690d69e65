#include "subfleet/code_options.h"

namespace subfleet {

LayerCode CodeOptions::of(const std::string& layer) const {
  LayerCode own;
  if (const auto found = layers.find(layer); found != layers.end()) own = found->second;
  if (own.family.empty()) own.family = family;
  if (own.keep == 0) own.keep = keep;
  return own;
}

}  // namespace subfleet
