#pragma once

#include <string>
#include <vector>

#include "subfleet/charts/chart.h"
#include "subfleet/reproduce/experiment_result.h"

namespace subfleet {

// The paper's numbers beside ours: as an aligned text table, as a section of Markdown with what there is to
// say, and as a JSON object.
std::string reproduce_table(const ExperimentResult& result);
std::string reproduce_markdown(const ExperimentResult& result);
std::string reproduce_json(const ExperimentResult& result);

// The pictures of an experiment, by the name of their file.
struct Picture {
  std::string file, title;
  Chart chart;
};
std::vector<Picture> reproduce_pictures(const ExperimentResult& result);

}  // namespace subfleet
