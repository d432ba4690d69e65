#pragma once

#include <cstddef>
#include <span>

#include "subfleet/round.h"
#include "subfleet/server/message.h"

// The client's end of a job that travels as a message: what a node and Python share.
namespace subfleet {

// Throws Error if the message does not have the weights of a sub-model of this size. Takes no memory.
void check_weights(const JobMessage& message, size_t weights);

// The weights as they arrive, decoded; as many as the sub-model has.
void decode_weights(const JobMessage& message, std::span<float> weights);

// The answer to a job: what the client says of its training, and its update, encoded.
UpdateMessage update_message(const JobMessage& job, const JobResult& result, std::span<const float> update);

// Names the job's random numbers.
RandomKey job_key(const JobMessage& job, Purpose purpose);

}  // namespace subfleet
