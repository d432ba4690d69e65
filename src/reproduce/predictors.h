#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/pool.h"
#include "sweep/statistics.h"

namespace subfleet {

// What a family's books are good at, as a number that could predict how well its sub-models train:
// "correlation" (the largest of two words, divided by the length), "distance" (the least of two words,
// divided by the length) and "coverage" (the clients that keep the least-kept unit, divided by the mean).
std::vector<std::string> property_names();

// In the mean over the droppable layers and the first rounds of the configuration.
double book_property(const std::string& name, const Config& config);

// A run, what its books are good at, and the accuracy at its end, in percent.
struct Predicted {
  std::string run;
  double property = 0;
  Estimate accuracy;
};
// The runs that have an accuracy; those without codes have no books and are left out.
std::vector<Predicted> predicted(const std::string& property, const Measured& measured);

// Spearman's rank correlation of property and accuracy, with its 95 % interval by Fisher's transformation;
// none for fewer than four runs.
std::optional<Estimate> rank_correlation(const std::vector<Predicted>& runs);

}  // namespace subfleet
