#pragma once

#include <optional>

#include "subfleet/report/progress.h"
#include "subfleet/work/group_observer.h"

namespace subfleet::cli {

// Shows group after group of a plan as progress on standard output. Searches have a bar alone.
class GroupProgress final : public GroupObserver {
 public:
  explicit GroupProgress(bool quiet) : mode_(Progress::detect(stdout, quiet)) {}

  void on_start(const GroupStart& group) override;
  void on_round(const RoundLine& line) override { shown_->update(line); }
  void on_note(const std::string& line) override { shown_->note(line); }
  void on_end() override { shown_.reset(); }

  Progress::Mode mode() const { return mode_; }

 private:
  Progress::Mode mode_;
  std::optional<Progress> shown_;
};

}  // namespace subfleet::cli
