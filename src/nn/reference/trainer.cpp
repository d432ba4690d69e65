#include "nn/local_trainer.h"
#include "nn/reference/network.h"
#include "nn/trainers.h"

namespace subfleet {

NetworkFactory reference_networks() { return reference::make_network; }

std::unique_ptr<Trainer> make_reference_trainer(ThreadPool& pool, const ExampleSource& source) {
  return make_local_trainer(pool, source, reference::make_network);
}

}  // namespace subfleet
