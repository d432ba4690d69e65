#include "subfleet/report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "subfleet/base/text.h"

namespace subfleet {
namespace {

// A stream into memory.
class Sink {
 public:
  Sink() : file_(::open_memstream(&text_, &size_)) {}
  ~Sink() {
    std::fclose(file_);
    std::free(text_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

RoundLine line_of(uint32_t round, bool evaluated = false) {
  return {.round = round,
          .test_accuracy = evaluated ? std::optional(0.841) : std::nullopt,
          .train_accuracy_median = 0.8,
          .bytes_total = round * 476'000'000ULL,
          .seconds = 2};
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// What the bar showed, frame by frame.
std::vector<std::string> frames_of(const std::string& text) {
  std::vector<std::string> frames;
  for (size_t at = text.find('\r'); at != std::string::npos;) {
    const size_t next = text.find('\r', at + 1);
    std::string frame = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    EXPECT_TRUE(frame.ends_with("\x1b[K")) << frame;
    frame.resize(frame.size() - 3);
    frames.push_back(frame);
    at = next;
  }
  return frames;
}

TEST(Progress, TheBarNeverExceedsTheWidth) {
  for (const bool unicode : {false, true}) {
    for (size_t width = 1; width <= 200; width += width < 90 ? 1 : 11) {
      Sink sink;
      {
        Progress progress(sink.file(), Progress::Mode::kBar,
                          {.rounds = 1500, .unicode = unicode, .width = [width] { return width; }});
        for (const uint32_t round : {1U, 2U, 37U, 750U, 1499U, 1500U})
          progress.update(line_of(round, round % 2 == 0));
      }
      for (const auto& frame : frames_of(sink.text()))
        EXPECT_LE(text_width(frame), std::max<size_t>(width, 2) - 1);
    }
  }
}

TEST(Progress, ANarrowTerminalKeepsTheCounterAndTheTimeLeft) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 100, .width = [] { return size_t{45}; }});
  progress.update(line_of(36, true));
  progress.update(line_of(37));
  const auto frame = frames_of(sink.text()).back();
  EXPECT_NE(frame.find("round  37/100"), std::string::npos) << frame;
  EXPECT_NE(frame.find("2 m 06 s left"), std::string::npos) << frame;
  EXPECT_EQ(frame.find("train"), std::string::npos) << frame;
}

TEST(Progress, TheBarFillsInProportionAndRemembersTheLastTest) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 4, .width = [] { return size_t{120}; }});
  for (uint32_t round = 1; round <= 4; ++round) progress.update(line_of(round, round == 2));
  const auto frames = frames_of(sink.text());
  ASSERT_EQ(frames.size(), 5U);  // the empty bar first
  const size_t full = count(frames[4], "#");
  EXPECT_EQ(count(frames[4], "."), 3U);  // only decimal points
  EXPECT_EQ(count(frames[0], "#"), 0U);
  EXPECT_EQ(count(frames[2], "#"), full / 2);
  EXPECT_EQ(frames[1].find("test"), std::string::npos);
  EXPECT_NE(frames[3].find("test 84.1 %"), std::string::npos);
}

TEST(Progress, TimeLeftIsRightForConstantSecondsAndUnknownAtFirst) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 100, .width = [] { return size_t{120}; }});
  for (uint32_t round = 1; round <= 100; ++round) progress.update(line_of(round));
  const auto frames = frames_of(sink.text());
  ASSERT_EQ(frames.size(), 101U);
  EXPECT_TRUE(frames[0].ends_with("-- left")) << frames[0];
  EXPECT_TRUE(frames[1].ends_with("-- left")) << frames[1];
  for (size_t round = 2; round <= 100; ++round) {
    const std::string expected = "  " + human_time(2.0 * static_cast<double>(100 - round)) + " left";
    EXPECT_TRUE(frames[round].ends_with(expected)) << frames[round];
  }
}

TEST(Progress, TimeLeftFollowsTheRecentRounds) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 100, .width = [] { return size_t{120}; }});
  for (uint32_t round = 1; round <= 60; ++round) {
    RoundLine line = line_of(round);
    line.seconds = round <= 30 ? 100 : 1;
    progress.update(line);
  }
  EXPECT_TRUE(frames_of(sink.text()).back().ends_with("  40 s left"));
}

TEST(Progress, ABarIsErasedOnceAtTheEnd) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 2, .width = [] { return size_t{80}; }});
  progress.update(line_of(1));
  progress.finish();
  EXPECT_EQ(frames_of(sink.text()).back(), "");
  const size_t size = sink.text().size();
  progress.finish();
  progress.update(line_of(2));
  EXPECT_EQ(sink.text().size(), size);
}

TEST(Progress, ANoteHasItsOwnLine) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar, {.rounds = 2, .width = [] { return size_t{80}; }});
  progress.note("2 clients diverged");
  EXPECT_NE(sink.text().find("\r\x1b[K2 clients diverged\n\rround"), std::string::npos);
}

TEST(Progress, LinesHaveNoControlCharacters) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kLines, {.rounds = 30, .unicode = true});
  for (uint32_t round = 1; round <= 30; ++round) progress.update(line_of(round, round % 7 == 0));
  progress.note("a note");
  progress.finish();
  EXPECT_GT(sink.text().size(), 100U);
  for (const char letter : sink.text()) EXPECT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~'));
}

TEST(Progress, ALineForEveryMeasuredRoundAndEveryTenth) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kLines, {.rounds = 1000});
  for (uint32_t round = 1; round <= 1000; ++round)
    progress.update(line_of(round, round == 50 || round == 51));
  const std::string text = sink.text();
  EXPECT_EQ(count(text, "\n"), 1U + 2U + 10U);  // the first, the measured, every hundredth
  EXPECT_EQ(count(text, "  test  84.1 %"), 2U);
  for (const char* shown :
       {"round    1/1000", "round   50/1000", "round   51/1000", "round  100/1000", "round 1000/1000"}) {
    EXPECT_EQ(count(text, shown), 1U) << shown;
  }
}

TEST(Progress, AResumedRunGoesOnCounting) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kLines, {.rounds = 100, .start_round = 90});
  for (uint32_t round = 91; round <= 100; ++round) progress.update(line_of(round));
  EXPECT_EQ(count(sink.text(), "\n"), 2U);
  EXPECT_EQ(sink.text().find("round  91/100"), 0U);
}

TEST(Progress, ARunOfAPlanHasATitleAndThePlansBarAndTime) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kBar,
                    {.rounds = 100,
                     .start_round = 0,
                     .title = "3/9 " + std::string(60, 'x'),
                     .plan = PlanLine{0.25, std::nullopt},
                     .width = [] { return size_t{81}; }});
  RoundLine line = line_of(100, true);
  line.plan = PlanLine{0.5, 90};
  progress.update(line);
  const auto frames = frames_of(sink.text());
  ASSERT_EQ(frames.size(), 2u);
  for (const std::string& frame : frames) {
    EXPECT_TRUE(frame.starts_with("3/9 xx")) << frame;
    EXPECT_LE(text_width(frame), 80u) << frame;
  }
  EXPECT_NE(frames[0].find("-- left"), std::string::npos) << frames[0];
  EXPECT_NE(frames[1].find("round 100/100"), std::string::npos) << "a long title leaves room: " << frames[1];
  EXPECT_NE(frames[1].find("test 84.1 %"), std::string::npos) << frames[1];
  EXPECT_NE(frames[1].find("1 m 30 s left"), std::string::npos) << frames[1];
  EXPECT_NE(frames[1].find("#."), std::string::npos) << "half of the plan, all of the run: " << frames[1];
}

TEST(Progress, TestsNeedNotBeLines) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kLines,
                    {.rounds = 100, .start_round = 0, .fewest_lines = 2, .title = "a", .test_lines = false});
  for (uint32_t round = 1; round <= 100; ++round) progress.update(line_of(round, true));
  EXPECT_EQ(count(sink.text(), "\n"), 3u) << sink.text();
  EXPECT_EQ(count(sink.text(), "a  round"), 3u) << sink.text();
}

TEST(Progress, QuietPrintsNothing) {
  Sink sink;
  Progress progress(sink.file(), Progress::Mode::kQuiet, {.rounds = 1});
  progress.update(line_of(1, true));
  progress.note("a note");
  progress.finish();
  EXPECT_EQ(sink.text(), "");
}

TEST(Progress, AFileIsNoTerminal) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_TRUE(file);
  EXPECT_EQ(Progress::detect(file.get(), false), Progress::Mode::kLines);
  EXPECT_EQ(Progress::detect(file.get(), true), Progress::Mode::kQuiet);
}

}  // namespace
}  // namespace subfleet
