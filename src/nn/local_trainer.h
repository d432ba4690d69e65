#pragma once

#include <memory>

#include "nn/network.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"

namespace subfleet {

// A trainer that gives every job to one thread of the pool, which runs a network of the job's sub-model.
std::unique_ptr<Trainer> make_local_trainer(ThreadPool& pool, const ExampleSource& source,
                                            const NetworkFactory& make_network);

}  // namespace subfleet
