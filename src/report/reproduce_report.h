#pragma once

#include <string>
#include <vector>

#include "report/chart.h"
#include "reproduce/measures.h"

namespace subfleet {

// What one reading of the paper gave for one value.
struct ReadingResult {
  std::optional<Estimate> ours;
  Verdict verdict = Verdict::kNothingToCompare;
};

// An experiment and what came of it so far.
struct ExperimentResult {
  const Experiment* experiment = nullptr;
  std::vector<Measured> measured;                   // one per reading; none of facts
  std::vector<std::vector<ReadingResult>> results;  // [value][reading]
  std::vector<std::string> trainers;                // everything that trained for it
};

// Of values: how many there are to compare, and how many agree in the reading that agrees most often.
struct Agreement {
  size_t compared = 0, agree = 0;
  std::string reading;
};
Agreement agreement(const ExperimentResult& result);

// The paper's numbers beside ours: as an aligned text table, as a section of Markdown with what there is to
// say, and, of several experiments, as JSON.
std::string reproduce_table(const ExperimentResult& result);
std::string reproduce_markdown(const ExperimentResult& result);
std::string reproduce_json(const std::vector<ExperimentResult>& results);

// The pictures of an experiment, by the name of their file.
struct Picture {
  std::string file, title;
  Chart chart;
};
std::vector<Picture> reproduce_pictures(const ExperimentResult& result);

}  // namespace subfleet
