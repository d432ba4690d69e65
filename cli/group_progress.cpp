#include "group_progress.h"

#include <cstdio>

#include "subfleet/report/terminal.h"

namespace subfleet::cli {

void GroupProgress::on_start(const GroupStart& group) {
  Progress::Settings settings{.rounds = group.rounds,
                              .start_round = group.rounds_done,
                              .unicode = look_at_terminal(stdout).unicode,
                              .title = group.title,
                              .plan = group.plan,
                              .width = {}};
  Progress::Mode mode = mode_;
  if (group.kind == GroupStart::Kind::kRuns) {
    settings.fewest_lines = 2;
    settings.test_lines = false;
  } else if (mode == Progress::Mode::kLines) {
    mode = Progress::Mode::kQuiet;
  }
  shown_.emplace(stdout, mode, settings);
}

}  // namespace subfleet::cli
