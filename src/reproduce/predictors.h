#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "subfleet/reproduce/pool.h"
#include "subfleet/results/statistics.h"

namespace subfleet {

// What a family's books are good at, as a number that could predict how well its sub-models train:
// "correlation" (the largest of two words, divided by the length), "distance" (the least of two words,
// divided by the length) and "coverage" (the clients that keep the least-kept unit, divided by the mean).
std::vector<std::string> property_names();

// In the mean over the droppable layers and the first rounds of the configuration.
double book_property(const std::string& name, const Config& config);

// A run, what its books are good at, and the accuracy at its end, in percent: of all seeds, and of each.
struct Predicted {
  std::string run;
  double property = 0;
  Estimate accuracy;
  std::map<uint64_t, double> by_seed;
};
// The runs that have an accuracy; those without codes have no books and are left out, as are those `without`.
std::vector<Predicted> predicted(const std::string& property, const Measured& measured,
                                 const std::vector<std::string>& without = {});

// Spearman's rank correlation of property and accuracy, of each seed that all runs have; over the seeds. None
// for fewer than four runs.
std::optional<Estimate> rank_correlation(const std::vector<Predicted>& runs);

}  // namespace subfleet
