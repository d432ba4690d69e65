#include "nn/training_operations.h"

#include "model/layers.h"
#include "nn/network.h"

namespace subfleet {

double training_operations(const ModelSpec& model) {
  double total = 0;
  bool learns_before = false;
  for (const LayerSite& site : layer_sites(model)) {
    total += layer_type(site.spec.type).forward_operations(site.spec, site.input) * (learns_before ? 3 : 2);
    learns_before = learns_before || site.weights_count > 0;
  }
  return total;
}

}  // namespace subfleet
