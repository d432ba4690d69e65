#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace subfleet {

// How far the plan is that a run is a part of.
struct PlanLine {
  double done = 0;  // 0 to 1
  std::optional<double> seconds_left = std::nullopt;
};

// What a run says after a round.
struct RoundLine {
  uint32_t round = 0;                                  // rounds done, this one included
  std::optional<double> test_accuracy = std::nullopt;  // if it was measured in this round
  double train_accuracy_median = 0;
  uint64_t bytes_total = 0;                     // down and up, since the run began
  double seconds = 0;                           // wall time since the last line, everything included
  std::optional<PlanLine> plan = std::nullopt;  // then the bar and the time left are the plan's
};

// Shows how far a run is: one line redrawn in place on a terminal, plain lines elsewhere.
//   round  37/100 ███████████▌                    test 84.1 %  train 82.0 %  12.3 GB  1 m 20 s left
// The time left is the mean of the last rounds' seconds times the rounds to come; "--" for the first two
// rounds.
class Progress {
 public:
  enum class Mode {
    kBar,    // one live line
    kLines,  // a line for every measured round, and some on the way; no control characters
    kQuiet,  // nothing
  };
  struct Settings {
    uint32_t rounds = 0;
    uint32_t start_round = 0;                     // rounds already done, when a run is resumed
    bool unicode = false;                         // block characters in the bar
    uint32_t fewest_lines = 10;                   // of kLines, if there are as many rounds
    std::string title = {};                       // before the round: which run of several
    bool test_lines = true;                       // of kLines: one for every measured round
    std::optional<PlanLine> plan = std::nullopt;  // before the first round
    std::function<size_t()> width =
        nullptr;  // columns of the terminal, asked for at every line; empty: look at `out`
  };

  // Bar for a terminal, lines for anything else.
  static Mode detect(std::FILE* out, bool quiet);

  // `out` must outlive this object.
  Progress(std::FILE* out, Mode mode, Settings settings);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const RoundLine& line);

  // A message of its own line, above the bar.
  void note(std::string_view message);

  // Takes the bar away, so that what is printed next starts on an empty line. Nothing is shown afterwards.
  void finish();

 private:
  std::string bar_line(size_t columns) const;
  std::string title(size_t columns = std::string::npos) const;
  std::string counter() const;
  std::string time_left() const;
  bool worth_a_line(const RoundLine& line) const;
  void draw();
  void erase();

  std::FILE* out_;
  Mode mode_;
  Settings settings_;
  RoundLine last_;
  std::optional<double> test_accuracy_;
  std::deque<double> recent_seconds_;
  uint32_t last_shown_ = 0;
  bool anything_yet_ = false;
};

}  // namespace subfleet
