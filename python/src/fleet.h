#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "subfleet/data.h"
#include "subfleet/fleet.h"
#include "subfleet/store/session.h"
#include "subfleet/thread_pool.h"

namespace subfleet::python {

// What Python knows as a fleet: a Run takes any of them. Each kind of fleet derives from it and fills it in.
struct BoundFleet {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Fleet> fleet;  // after the pool, which it may use
  Workers workers;               // for the provenance of runs
  uint64_t eval_samples = 0;
  std::optional<DataOptions> data;  // that it has; empty: clients elsewhere have them
  bool is_of_arrays() const { return data && data->source == kArrays; }
  std::recursive_timed_mutex in_use;  // a round or a test; a callback may ask for another test

  virtual ~BoundFleet() = default;
};

// Every client in this process.
struct BoundLocalFleet final : BoundFleet {
  // `arrays`: the data, instead of those of the settings.
  BoundLocalFleet(const Config& config, const std::string& device, size_t threads,
                  const SplitFederation* arrays = nullptr);
};

}  // namespace subfleet::python
