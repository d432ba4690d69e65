#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/examples.h"
#include "subfleet/partial_sum.h"
#include "subfleet/random.h"
#include "subfleet/submodel.h"

namespace subfleet {

class ThreadPool;

// What every client does with its sub-model in one round: E epochs of plain SGD.
struct LocalTraining {
  uint32_t epochs = 1;
  uint32_t batch = 10;
  float client_lr = 0.035f;
  bool shuffle = true;         // a new order of the examples each epoch; false keeps the data's order
  bool squared_norms = false;  // whether the reports are to have them
};

// One client's work in one round.
struct Job {
  uint32_t client = 0;
  const SubModel* submodel = nullptr;
  RandomKey batch_order;  // names the stream that shuffles the client's examples
};

// What a client reports beside its update. Accuracy and loss are running means over its local epochs, as it
// trains.
struct JobReport {
  uint32_t examples = 0;
  double loss = 0;
  double accuracy = 0;
  bool diverged = false;    // the update was not finite or absurd, and was left out
  double squared_norm = 0;  // of the update, where it was asked for; not sent, for it can be told from that
};

struct Evaluation {
  uint64_t examples = 0;
  uint64_t correct = 0;
  double loss = 0;  // mean
  double accuracy() const {
    return examples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(examples);
  }
};

// Puts the training examples of a client in place of what is in `into`, whose memory is used again. Called
// from several threads at once.
using ReadExamples = std::function<void(uint32_t client, Examples& into)>;

// The jobs of one run in one round: the whole model's weights that they start from, and where their updates
// go.
struct Cohort {
  std::span<const float> weights;
  std::span<const Job> jobs;
  LocalTraining how;
  PartialSum* sum = nullptr;  // another one for every cohort
};

// Runs the arithmetic of jobs. The results do not depend on the number of threads.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // Trains every job of every cohort and adds the updates to the cohort's sum; one report a job, in order. A
  // cohort gets the same bits as it would alone.
  virtual std::vector<std::vector<JobReport>> train_together(std::span<const Cohort> cohorts,
                                                             const ReadExamples& read_examples) = 0;

  // One cohort.
  std::vector<JobReport> train(std::span<const float> weights, std::span<const Job> jobs,
                               const ReadExamples& read_examples, const LocalTraining& how, PartialSum& sum);

  // Accuracy and loss of a whole model.
  virtual Evaluation evaluate(const ModelSpec& model, std::span<const float> weights,
                              const Examples& examples) = 0;
};

// `reference` (plain loops, the truth) or `cpu` (oneDNN); throws Error naming the nearest. The pool outlives
// it.
std::unique_ptr<Trainer> make_trainer(std::string_view device, ThreadPool& pool);
std::vector<std::string> trainer_names();

}  // namespace subfleet
