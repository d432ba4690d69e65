#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "subfleet/training.h"

namespace subfleet {

// A run's scalars as a TensorBoard event file, events.out.tfevents.subfleet in the run's folder: test and
// training accuracy, test and training loss, and the bytes exchanged so far. All that is in it is in
// rounds.jsonl too.
class EventFile final : public RoundObserver {
 public:
  static constexpr auto kName = "events.out.tfevents.subfleet";

  // Writes the file anew with the rounds done so far, as if they had just been done one after the other: a
  // run that is resumed from an earlier checkpoint, or that had no such file, has the same events as one that
  // was never stopped, but for their times.
  EventFile(const std::filesystem::path& folder, std::span<const RoundRecord> log);
  ~EventFile() override;
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;

  void round_done(Run& run, const RoundRecord& record) override;
  void append(const RoundRecord& record);

 private:
  std::filesystem::path path_;
  int file_ = -1;
  uint64_t bytes_ = 0;
};

// The file's beginning, and one round's event after `bytes` in all; times in seconds since 1970. Values that
// are not finite are left out.
std::string events_beginning(double time);
std::string round_event(const RoundRecord& record, uint64_t bytes, double time);

}  // namespace subfleet
