#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "subfleet/examples.h"
#include "subfleet/server/message.h"

namespace subfleet {

class ClientPipeline;

// What a node sends back for a job, and what it may tell its owner about it.
struct RanJob {
  std::vector<std::byte> update;  // an encoded UpdateMessage
  uint32_t client = 0;
  size_t weights = 0;  // of the sub-model
  uint32_t examples = 0;
  double loss = 0, accuracy = 0;
};

// Runs jobs that arrive as messages, one at a time, with the bits that LocalFleet gives them: the weights
// come out of the codec `down`, the update goes through `up`. Whatever the size of the whole model, the
// memory is that of the sub-model.
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
