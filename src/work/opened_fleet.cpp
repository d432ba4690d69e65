#include "subfleet/work/opened_fleet.h"

#include <future>
#include <utility>

#include "subfleet/local_fleet.h"
#include "subfleet/store/session.h"
#include "subfleet/trainer.h"

namespace subfleet {

OpenedFleet::OpenedFleet(const Config& config, const std::string& device, size_t threads, Ranks& ranks,
                         const std::optional<Provenance>& before)
    : pool(ranks.threads(threads)) {
  // The data are read while the device wakes.
  const std::future<void> awake = std::async(std::launch::async, wake_device, device);
  auto own =
      std::make_unique<LocalFleet>(open_split_federation(config.data), device, pool, config.run.eval_samples);
  now = provenance_now(
      config, *own,
      {.device = device, .threads = static_cast<uint32_t>(pool.threads()), .ranks = ranks.count()});
  if (before) {
    now.initial = before->initial;
    warning = other_workers(*before, now);
  }
  fleet = ranks.lead(std::move(own), config, device);
}

}  // namespace subfleet
