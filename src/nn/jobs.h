#pragma once

#include <span>
#include <string>

#include "subfleet/examples.h"
#include "subfleet/partial_sum.h"
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

bool is_lossless(const Wire& wire);  // both ways

// An update that has arrived at a server on a host is judged and added to `sum`. Fills in the result's
// squared norm, where it is asked for, and its outcome, if it diverged.
void add_update(const Cohort& cohort, const Job& job, std::span<const float> update, PartialSum& sum,
                JobResult& result);

}  // namespace subfleet
