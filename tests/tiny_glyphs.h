#pragma once

#include "program.h"
#include "subfleet/config.h"

namespace subfleet {

// A few writers and a small network, by settings alone, for tests of what opens its data itself.
inline Config tiny_glyphs() {
  Config config;
  config.model.file = tiny_model();
  config.data.writers = 10;
  config.round.clients = 4;
  config.run.rounds = 3;
  config.run.eval_every = 2;
  validate(config);
  return config;
}

}  // namespace subfleet
