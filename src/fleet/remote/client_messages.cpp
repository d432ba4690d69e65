#include "subfleet/fleet/remote/client_messages.h"

#include <fmt/format.h>

#include "subfleet/error.h"

namespace subfleet {

RandomKey job_key(const JobMessage& job, Purpose purpose) {
  return {.seed = job.seed, .round = job.draw, .client = job.client, .purpose = purpose};
}

void check_weights(const JobMessage& message, size_t weights) {
  const Codec& down = find_codec(message.down);
  if (message.weights.size() == down.encoded_size(weights)) return;
  throw bad_request("job",
                    fmt::format("{} bytes of weights; the sub-model's {} weights are {} in {}",
                                message.weights.size(), weights, down.encoded_size(weights), down.name()));
}

void decode_weights(const JobMessage& message, std::span<float> weights) {
  find_codec(message.down).decode(message.weights, job_key(message, Purpose::kWireDown), weights);
}

UpdateMessage update_message(const JobMessage& job, const JobResult& result, std::span<const float> update) {
  UpdateMessage message{.draw = job.draw,
                        .row = job.row,
                        .examples = result.examples,
                        .loss = result.loss,
                        .accuracy = result.accuracy,
                        .update = {}};
  find_codec(job.up).encode(update, job_key(job, Purpose::kWireUp), message.update);
  return message;
}

}  // namespace subfleet
