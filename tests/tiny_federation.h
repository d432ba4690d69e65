#pragma once

#include <string>

#include "subfleet/data.h"
#include "subfleet/random.h"

namespace subfleet {

// A few clients with a handful of random 28x28 images each, for tests that need data but not handwriting.
class TinyFederation final : public Federation {
 public:
  explicit TinyFederation(uint32_t clients) : clients_(clients) {}
  uint32_t clients() const override { return clients_; }
  Shape input() const override { return {1, 28, 28}; }
  uint32_t classes() const override { return 62; }
  uint32_t samples(uint32_t client) const override { return 7 + 3 * client; }
  uint64_t fingerprint() const override { return 1; }
  std::string class_name(uint32_t label) const override { return std::to_string(label); }

  void read(uint32_t client, Examples& into) const override {
    Random random({.seed = 11, .client = client});
    into.reset(input().size(), samples(client));
    for (uint32_t i = 0; i < samples(client); ++i) {
      const auto label = static_cast<int32_t>(random.below(62));
      for (size_t pixel = 0; pixel < into.features; ++pixel) {
        const double ink = (pixel % 62) == static_cast<size_t>(label) ? 1.0 : 0.0;
        into.inputs.push_back(static_cast<float>(0.8 * ink + 0.2 * random.uniform()));
      }
      into.labels.push_back(label);
    }
  }

 private:
  uint32_t clients_;
};

}  // namespace subfleet
