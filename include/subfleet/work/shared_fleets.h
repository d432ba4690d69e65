#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "subfleet/local_fleet.h"
#include "subfleet/store/session.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

// The fleets of commands that train many runs in one process. Data are read once, a device is woken once, and
// runs that follow each other with the same data and tests share a fleet.
class SharedFleets {
 public:
  SharedFleets(std::string device, size_t threads) : device_(std::move(device)), pool_(threads) {}

  const std::string& device() const { return device_; }
  Workers workers() const { return {.device = device_, .threads = static_cast<uint32_t>(pool_.threads())}; }

  // Reads the data unless they are in memory. Throws Error if they do not fit, or if `tested` and they have
  // no test examples.
  void check(const Config& config, bool tested = false);
  // Closes the fleet before it, if that has other data.
  Fleet& fleet(const Config& config);

 private:
  std::string device_;
  ThreadPool pool_;
  std::map<std::string, SplitFederation> data_;  // by their settings, until their fleet takes them
  std::unique_ptr<LocalFleet> fleet_;
  std::string fleet_data_;
};

// The settings of its data and tests: equal for runs that share a fleet.
std::string data_settings(const Config& config);

}  // namespace subfleet
