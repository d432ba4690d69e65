#pragma once

#include "tiny_run.h"

namespace subfleet {

// A search over TinyFederation that is soon over, for tests that need one to be made.
inline Config tiny_search() {
  Config config = tiny_config();
  config.run.rounds = 15;
  config.run.checkpoint_every = 2;
  config.tune = {.start = 0.01,
                 .steps = 1,
                 .outward = 0,
                 .target = {.value = 0.1, .times_chance = false},
                 .window = 2,
                 .max_rounds = 15};
  config.server.optimizer = "fedadam";
  validate(config);
  return config;
}

}  // namespace subfleet
