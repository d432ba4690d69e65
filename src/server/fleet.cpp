#include "subfleet/fleet.h"

namespace subfleet {

std::vector<std::vector<JobReport>> Fleet::train_together(std::span<const Cohort> cohorts) {
  std::vector<std::vector<JobReport>> reports;
  for (const Cohort& cohort : cohorts) {
    reports.push_back(train(cohort.weights, cohort.jobs, cohort.how, *cohort.sum));
  }
  return reports;
}

}  // namespace subfleet
