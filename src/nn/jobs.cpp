#include "nn/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "subfleet/error.h"
#include "subfleet/trainer.h"

namespace subfleet {

void check_cohort(const Cohort& cohort, size_t weights_of_state) {
  if (cohort.how.epochs == 0) throw bad_request("round.epochs", "is 0; must be at least 1");
  if (cohort.how.batch == 0) throw bad_request("round.batch", "is 0; must be at least 1");
  for (const Job& job : cohort.jobs) {
    if (job.submodel->whole_size() == weights_of_state) continue;
    throw bad_request("train", fmt::format("a sub-model of a model of {} weights; the state has {}",
                                           job.submodel->whole_size(), weights_of_state));
  }
}

void check_examples(const Examples& examples, const ModelSpec& model, const std::string& whose) {
  if (examples.features != model.input.size() ||
      examples.inputs.size() != examples.count() * examples.features) {
    throw bad_request(whose, fmt::format("examples of {} values, but {} needs {}", examples.features,
                                         model.name, model.input.size()));
  }
  const auto classes = static_cast<int64_t>(class_count(model));
  for (const int32_t label : examples.labels) {
    if (label < 0 || label >= classes) {
      throw bad_request(
          whose, fmt::format("label {} is not below the {} classes of {}", label, classes, model.name));
    }
  }
}

void check_has_layers(const ModelSpec& model) {
  if (!model.tensors) return;
  throw bad_request(model.name,
                    "is known by its tensors alone, so only the program that it comes from can "
                    "train and test it (docs/python.md)");
}

void check_chunks(size_t first, size_t count, size_t test_examples) {
  if (first + count <= chunk_count(test_examples)) return;
  throw bad_request("evaluation",
                    fmt::format("chunks {} to {} of {}", first, first + count, chunk_count(test_examples)));
}

RandomKey job_key(const Cohort& cohort, const Job& job, Purpose purpose) {
  return {.seed = cohort.seed, .round = cohort.draw, .client = job.client, .purpose = purpose};
}

ModelSpec network_key(ModelSpec model) {
  model.name.clear();
  model.vocabulary.clear();
  for (LayerSpec& layer : model.layers) {
    layer.name.clear();
    layer.droppable = false;
  }
  return model;
}

void set_means(JobResult& result, const LocalTraining& how, double loss, uint64_t correct) {
  const double seen = std::max(1.0, static_cast<double>(how.epochs) * result.examples);
  result.loss = loss / seen;
  result.accuracy = static_cast<double>(correct) / seen;
}

bool is_lossless(const Wire& wire) { return wire.down->lossless() && wire.up->lossless(); }

void add_update(const Cohort& cohort, const Job& job, std::span<const float> update, PartialSum& sum,
                JobResult& result) {
  if (cohort.squared_norms) {
    result.squared_norm = 0;
    for (const float value : update)
      result.squared_norm += static_cast<double>(value) * static_cast<double>(value);
  }
  if (result.examples == 0) return;
  if (!std::isfinite(result.loss) || !sum.add(*job.submodel, update, result.examples))
    result.outcome = JobOutcome::kDiverged;
}

void encode_update(const Cohort& cohort, const Job& job, std::span<const float> update,
                   std::vector<std::byte>& message) {
  cohort.wire.up->encode(update, job_key(cohort, job, Purpose::kWireUp), message);
}

void order_examples(Random& random, const LocalTraining& how, uint32_t epoch, std::span<uint32_t> order) {
  if (epoch == 0) std::iota(order.begin(), order.end(), 0u);
  if (how.shuffle) random.shuffle(order);
}

}  // namespace subfleet
