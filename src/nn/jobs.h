#pragma once

#include <span>
#include <string>

#include "subfleet/examples.h"
#include "subfleet/partial_sum.h"
#include "subfleet/random.h"
#include "subfleet/round.h"

// What every trainer does with jobs before and after the arithmetic.
namespace subfleet {

// Each throws Error, in one line, for what no trainer can use.
void check_cohort(const Cohort& cohort, size_t weights_of_state);
void check_examples(const Examples& examples, const ModelSpec& model, const std::string& whose);
void check_has_layers(const ModelSpec& model);
void check_chunks(size_t first, size_t count, size_t test_examples);

// The key of a job's random numbers.
RandomKey job_key(const Cohort& cohort, const Job& job, Purpose purpose);

// All that decides how a network computes: its model without names and droppable flags.
ModelSpec network_key(ModelSpec model);

// Sets a job's loss and accuracy from sums over all examples it saw.
void set_means(JobResult& result, const LocalTraining& how, double loss, uint64_t correct);

bool is_lossless(const Wire& wire);  // both ways

// An update that has arrived at a server on a host is judged and added to `sum`. Fills in the result's
// squared norm, where it is asked for, and its outcome, if it diverged.
void add_update(const Cohort& cohort, const Job& job, std::span<const float> update, PartialSum& sum,
                JobResult& result);

}  // namespace subfleet
