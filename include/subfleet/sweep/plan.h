#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/config.h"

namespace subfleet {

// The candidate that won a search.
struct SearchWinner {
  double server_lr = 0;
  uint32_t first_draw = 0;  // beyond the search's own
};

// One of the things that a sweep compares: a configuration that is trained once with every seed.
struct SweepRun {
  std::string name;
  std::string slug;   // the name as a part of a folder's name
  Config config;      // checked; its seed is not used, as the sweep has its own
  bool drawn = true;  // a line of the chart
  // 1: a single run. More: an ensemble of that many models, each with its own seed, that answer together.
  uint32_t members = 1;
  std::map<uint64_t, SearchWinner> winners = {};  // by seed: the search winner that the run goes on from
};

// What a sweep file asks for.
struct SweepPlan {
  std::string title;
  std::vector<uint64_t> seeds;
  std::optional<size_t> baseline;       // the run that the others are compared with
  double target = 0.996;                // the accuracy to reach, relative to the baseline's at the end
  std::optional<uint32_t> last_rounds;  // whose tests are the accuracy at the end; none: a quarter of the run
  std::vector<SweepRun> runs;

  Config config(size_t run, uint64_t seed) const;
  // "gold-f32-1", in the sweep's folder.
  std::string folder(size_t run, uint64_t seed) const;
};

// Reads a sweep file; `source` names it in errors. `change` may change every configuration before it is
// checked. Throws Error, naming the run whose configuration is wrong.
SweepPlan parse_sweep(std::string_view text, std::string_view source,
                      const std::function<void(Config&)>& change);

// A name as a part of a file's name: "gold, f32" is "gold-f32".
std::string slug_of(const std::string& name);

// What a round of the configuration exchanges, both ways, without the few bytes around the weights.
uint64_t estimated_bytes(const Config& config);

}  // namespace subfleet
