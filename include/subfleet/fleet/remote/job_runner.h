#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "subfleet/examples.h"
#include "subfleet/random.h"
#include "subfleet/round.h"
#include "subfleet/server/message.h"

// The client's end of a job that travels as a message.
namespace subfleet {

class ClientPipeline;

// Throws Error if the message does not have the weights of a sub-model of this size. Takes no memory.
void check_weights(const JobMessage& message, size_t weights);

// The weights as they arrive, decoded; as many as the sub-model has.
void decode_weights(const JobMessage& message, std::span<float> weights);

// The answer of a client that has trained by itself, with its update, encoded.
UpdateMessage update_message(const JobMessage& job, const JobResult& result, std::span<const float> update);

// Names the job's random numbers.
RandomKey job_key(const JobMessage& job, Purpose purpose);

// What a node sends back for a job, and what it may tell its owner about it.
struct RanJob {
  std::vector<std::byte> update;  // an encoded UpdateMessage
  uint32_t client = 0;
  size_t weights = 0;  // of the sub-model
  uint32_t examples = 0;
  double loss = 0, accuracy = 0;
};

// Runs jobs that arrive as messages, one at a time, with the same bits as LocalFleet: the weights are decoded
// with the codec `down`, the update is encoded with `up`. Memory depends on the sub-model's size, not the
// whole model's.
class JobRunner {
 public:
  static constexpr size_t kMostWeights = size_t{1} << 28;  // of a sub-model
  static constexpr uint32_t kMostEpochs = 10'000;

  // `device` is `cpu` or `reference`; throws Error if this build has no such trainer. The examples outlive
  // it.
  JobRunner(const ExampleSource& examples, std::string_view device);
  ~JobRunner();

  // Takes an encoded JobMessage. Throws Error, in one line, for a message that is malformed, asks for
  // something absurd, or does not fit the examples.
  RanJob run(std::vector<std::byte> message);

 private:
  const ExampleSource& source_;
  std::unique_ptr<ClientPipeline> client_;
  NamedSubModels submodels_;  // for a node with several clients of one round
};

}  // namespace subfleet
