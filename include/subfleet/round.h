#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/code_options.h"
#include "subfleet/codec.h"
#include "subfleet/model.h"
#include "subfleet/submodel.h"

// The words of a round: what a fleet and a trainer are given, and what they answer.
namespace subfleet {

class ServerState;

// What every client does with its sub-model in one round: E epochs of SGD, plain unless one of the three
// numbers is above 0. Momentum and weight decay are PyTorch's.
struct LocalTraining {
  uint32_t epochs = 1;
  uint32_t batch = 10;
  float client_lr = 0.035f;
  float momentum = 0;      // up to 1; a step's velocity starts at 0 in every round
  float weight_decay = 0;  // times the weights, added to the gradient
  float proximal = 0;      // FedProx's mu: times the distance from the given weights, added to the gradient
  bool shuffle = true;     // a new order of the examples in each epoch; false keeps the data's order
  bool flip = false;       // pictures are mirrored, left to right, half of the time
  uint32_t crop = 0;       // pictures are moved by up to so many pixels in each direction; zeros come in
  bool operator==(const LocalTraining&) const = default;
};

// One client's work in one round.
struct Job {
  uint32_t client = 0;
  uint32_t row = 0;  // of the round's code books; with the cohort's names it says which sub-model this is
  const SubModel* submodel = nullptr;
};

// How weights and updates travel between server and clients.
struct Wire {
  const Codec* down = nullptr;
  const Codec* up = nullptr;
};

// The jobs of one run in one round. (model, code, seed, draw) name every sub-model, batch order and codec's
// random number, so that a machine elsewhere makes the same from these few values.
struct Cohort {
  const ModelSpec* model = nullptr;
  CodeOptions code;
  uint64_t seed = 0;
  uint32_t draw = 0;  // which draw of clients, masks and orders
  uint32_t rows = 0;  // of the code books: the clients of the round
  std::span<const Job> jobs;
  LocalTraining how;
  Wire wire;
  bool squared_norms = false;    // whether the results are to have them
  ServerState* state = nullptr;  // its weights are given out, and the updates go into its sum; one per cohort
};

// What became of a job. Only the updates of the trained are summed.
enum class JobOutcome {
  kTrained,
  kDiverged,  // the update is not finite, or absurd
  kLost,      // the client is known to be gone
  kLate,      // it did not answer before the deadline
  kRejected,  // its answer cannot be used; JobResult::why says why
};
inline constexpr std::array kJobOutcomes{JobOutcome::kTrained, JobOutcome::kDiverged, JobOutcome::kLost,
                                         JobOutcome::kLate, JobOutcome::kRejected};
std::string_view outcome_name(JobOutcome outcome);  // "trained"

// Accuracy and loss are running means over the client's local epochs, as it trains.
struct JobResult {
  JobOutcome outcome = JobOutcome::kLost;
  std::string why = {};  // for a rejected or lost job
  uint32_t examples = 0;
  double loss = 0;
  double accuracy = 0;
  double squared_norm = 0;                // of the update that was summed, where it was asked for
  uint64_t bytes_down = 0, bytes_up = 0;  // that really travelled, counted by what moved them
};

// What is particular to one round's server step.
struct ServerRound {
  double lr = 0;            // the server's learning rate in this round; 0: the optimizer's default
  double keep_average = 0;  // what is left of the mean of the weights so far, where one is kept
  std::span<const JobResult> results = {};  // of the round's jobs, in order
};

// Why a client's result cannot be used, if so: an accuracy or a loss that is not a number, or more examples
// than its share of what one round can sum exactly.
std::optional<std::string> fault_in(const JobResult& result, size_t clients_of_round);

struct Evaluation {
  uint64_t examples = 0;
  uint64_t correct = 0;
  double loss = 0;  // summed over the examples
  double accuracy() const {
    return examples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(examples);
  }
  double mean_loss() const { return examples == 0 ? 0 : loss / static_cast<double>(examples); }
  Evaluation& operator+=(const Evaluation& other) {
    examples += other.examples;
    correct += other.correct;
    loss += other.loss;
    return *this;
  }
};

}  // namespace subfleet
