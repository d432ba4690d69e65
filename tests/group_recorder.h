#pragma once

#include <string>
#include <vector>

#include "subfleet/work/group_observer.h"

namespace subfleet {

// Keeps what a plan tells of its groups.
class GroupRecorder final : public GroupObserver {
 public:
  void on_start(const GroupStart& group) override { starts.push_back(group); }
  void on_round(const RoundLine& line) override { rounds.push_back(line); }
  void on_note(const std::string& line) override { notes.push_back(line); }
  void on_end() override { ++ends; }

  std::vector<GroupStart> starts;
  std::vector<RoundLine> rounds;
  std::vector<std::string> notes;
  size_t ends = 0;
};

}  // namespace subfleet
