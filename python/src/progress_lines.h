#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"

namespace subfleet::python {

// The lines that `subfleet train` shows without a terminal, for callers that print them elsewhere.
class ProgressLines {
 public:
  ProgressLines(Run& run, uint64_t bytes)
      : stream_(::open_memstream(&text_, &size_)),
        progress_(stream_, Progress::Mode::kLines,
                  {.rounds = run.config().run.rounds,
                   .start_round = run.round(),
                   .width = [] { return size_t{120}; }}),
        shown_(progress_, bytes) {}
  ~ProgressLines() {
    progress_.finish();
    std::fclose(stream_);
    std::free(text_);
  }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  std::string after(Run& run, const RoundRecord& record) {
    shown_.round_done(run, record);
    std::fflush(stream_);
    std::string lines(text_ + taken_, size_ - taken_);
    taken_ = size_;
    return lines;
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0, taken_ = 0;
  std::FILE* stream_;
  Progress progress_;
  RoundProgress shown_;
};

}  // namespace subfleet::python
