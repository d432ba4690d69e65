#pragma once

#include <span>
#include <string>

#include "subfleet/examples.h"
#include "subfleet/random.h"
#include "subfleet/round.h"

// What every trainer does with jobs before and after the arithmetic.
namespace subfleet {

// Each throws Error, in one line, for what no trainer can work with.
void check_cohort(const Cohort& cohort, size_t weights_of_state);
void check_examples(const Examples& examples, const ModelSpec& model, const std::string& whose);
void check_chunks(size_t first, size_t count, size_t test_examples);

// Names the random numbers of a job.
RandomKey job_key(const Cohort& cohort, const Job& job, Purpose purpose);

// What decides how a network computes: everything in its model but what things are called and who may hold
// them.
ModelSpec network_key(ModelSpec model);

// Fills in a job's loss and accuracy, from sums over all that it saw.
void set_means(JobResult& result, const LocalTraining& how, double loss, uint64_t correct);

// Of an update, as every fleet on a host adds it up.
double squared_norm(std::span<const float> update);

}  // namespace subfleet
