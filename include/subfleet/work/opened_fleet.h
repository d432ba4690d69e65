#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "subfleet/config.h"
#include "subfleet/fleet.h"
#include "subfleet/fleet/ranks.h"
#include "subfleet/store/provenance.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

// The fleet of a run or a search: its data are read and its device is awake. With it, what its runs note
// about where they are trained.
struct OpenedFleet {
  ThreadPool pool;
  std::unique_ptr<Fleet> fleet;  // of all ranks
  Provenance now;                // of this process
  // A line for people if the resumed run was trained in another way.
  std::optional<std::string> warning;

  // `device` is a trainer's name; threads = 0: one per core. `before` is the provenance of what is resumed.
  OpenedFleet(const Config& config, const std::string& device, size_t threads, Ranks& ranks,
              const std::optional<Provenance>& before);
};

}  // namespace subfleet
