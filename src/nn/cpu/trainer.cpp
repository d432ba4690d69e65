#include "nn/cpu/network.h"
#include "nn/local_trainer.h"
#include "nn/trainers.h"

namespace subfleet {

bool has_cpu_trainer() { return true; }

std::unique_ptr<Trainer> make_cpu_trainer(ThreadPool& pool) {
  return make_local_trainer(pool, cpu::make_network);
}

}  // namespace subfleet
