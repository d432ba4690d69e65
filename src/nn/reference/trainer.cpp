#include "nn/local_trainer.h"
#include "nn/reference/network.h"
#include "nn/trainers.h"

namespace subfleet {

std::unique_ptr<Trainer> make_reference_trainer(ThreadPool& pool) {
  return make_local_trainer(pool, reference::make_network);
}

}  // namespace subfleet
