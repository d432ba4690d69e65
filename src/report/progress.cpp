#include "subfleet/report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "subfleet/base/text.h"
#include "subfleet/report/terminal.h"

namespace subfleet {
namespace {

constexpr size_t kRecentRounds = 20;
constexpr size_t kRoundsBeforeEstimate = 2;
constexpr size_t kNarrowestBar = 8, kWidestBar = 40;

std::string block_bar(double done, size_t columns) {
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(done * static_cast<double>(8 * columns));
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return pad_right(bar, columns);
}

std::string plain_bar(double done, size_t columns) {
  const size_t inside = columns - 2;
  const auto filled = static_cast<size_t>(done * static_cast<double>(inside));
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(inside - filled, '.'));
}

}  // namespace

Progress::Mode Progress::detect(std::FILE* out, bool quiet) {
  if (quiet) return Mode::kQuiet;
  return look_at_terminal(out).interactive ? Mode::kBar : Mode::kLines;
}

Progress::Progress(std::FILE* out, Mode mode, Settings settings)
    : out_(out), mode_(mode), settings_(std::move(settings)) {
  if (!settings_.width) settings_.width = [out] { return terminal_width(out); };
  last_.round = settings_.start_round;
  last_.plan = settings_.plan;
  last_shown_ = settings_.start_round;
  if (mode_ == Mode::kBar) draw();
}

void Progress::update(const RoundLine& line) {
  if (mode_ == Mode::kQuiet) return;
  last_ = line;
  anything_yet_ = true;
  if (line.test_accuracy) test_accuracy_ = line.test_accuracy;
  if (std::isfinite(line.seconds) && line.seconds >= 0) recent_seconds_.push_back(line.seconds);
  if (recent_seconds_.size() > kRecentRounds) recent_seconds_.pop_front();

  if (mode_ == Mode::kBar) {
    draw();
  } else if (worth_a_line(line)) {
    const std::string test = line.test_accuracy
                                 ? fmt::format("  test {:>7}", human_percent(line.test_accuracy))
                                 : std::string(14, ' ');
    const std::string left =
        line.round < settings_.rounds || line.plan ? fmt::format("  {} left", time_left()) : "";
    fmt::print(out_, "{}{}{}  train {:>7}  {:>7}{}\n", title(), counter(), test,
               human_percent(line.train_accuracy_median), human_bytes(static_cast<double>(line.bytes_total)),
               left);
    std::fflush(out_);
    last_shown_ = line.round;
  }
}

void Progress::note(std::string_view message) {
  if (mode_ == Mode::kQuiet) return;
  if (mode_ == Mode::kBar) erase();
  fmt::print(out_, "{}\n", message);
  if (mode_ == Mode::kBar) draw();
  std::fflush(out_);
}

void Progress::finish() {
  if (mode_ == Mode::kBar) erase();
  mode_ = Mode::kQuiet;
}

bool Progress::worth_a_line(const RoundLine& line) const {
  const uint32_t first = settings_.start_round + 1;
  const uint32_t part = std::max<uint32_t>(1, settings_.rounds / settings_.fewest_lines);
  return (settings_.test_lines && line.test_accuracy) || line.round == first ||
         line.round >= settings_.rounds || line.round / part > last_shown_ / part;
}

std::string Progress::counter() const {
  const size_t digits = fmt::format("{}", settings_.rounds).size();
  return fmt::format("round {:>{}}/{}", last_.round, digits, settings_.rounds);
}

std::string Progress::title(size_t columns) const {
  return settings_.title.empty() ? "" : clip_text(settings_.title, columns) + "  ";
}

std::string Progress::time_left() const {
  if (last_.plan) return last_.plan->seconds_left ? human_time(*last_.plan->seconds_left) : "--";
  if (last_.round >= settings_.rounds) return human_time(0);
  if (recent_seconds_.size() < kRoundsBeforeEstimate) return "--";
  const double sum = std::accumulate(recent_seconds_.begin(), recent_seconds_.end(), 0.0);
  return human_time(sum / static_cast<double>(recent_seconds_.size()) * (settings_.rounds - last_.round));
}

// Always the counter, then as much of the rest as leaves room for a bar, the most important first.
std::string Progress::bar_line(size_t columns) const {
  struct Part {
    std::string text;
    int dropped;  // parts with the highest number go first when the terminal is narrow
  };
  std::vector<Part> parts;
  if (test_accuracy_) parts.push_back({fmt::format("  test {}", human_percent(test_accuracy_)), 1});
  if (anything_yet_) {
    parts.push_back({fmt::format("  train {}", human_percent(last_.train_accuracy_median)), 3});
    parts.push_back({fmt::format("  {}", human_bytes(static_cast<double>(last_.bytes_total))), 2});
  }
  parts.push_back({fmt::format("  {} left", time_left()), 0});

  const std::string head = title(columns / 3) + counter() + " ";
  const auto taken = [&] {
    size_t sum = text_width(head);
    for (const auto& part : parts) sum += text_width(part.text);
    return sum;
  };
  while (!parts.empty() && taken() + kNarrowestBar > columns)
    parts.erase(std::ranges::max_element(parts, {}, &Part::dropped));
  if (taken() + kNarrowestBar > columns) return clip_text(head, columns);

  const double done = last_.plan ? std::clamp(last_.plan->done, 0.0, 1.0)
                      : settings_.rounds == 0
                          ? 1.0
                          : std::min(1.0, static_cast<double>(last_.round) / settings_.rounds);
  const size_t bar_columns = std::min(kWidestBar, columns - taken());
  std::string line = head + (settings_.unicode ? block_bar(done, bar_columns) : plain_bar(done, bar_columns));
  for (const auto& part : parts) line += part.text;
  return line;
}

// The last column stays free: a terminal may move to the next line when it is written to.
void Progress::draw() {
  const size_t columns = std::max<size_t>(settings_.width(), 2) - 1;
  fmt::print(out_, "\r{}\x1b[K", bar_line(columns));
  std::fflush(out_);
}

void Progress::erase() {
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
}

}  // namespace subfleet
