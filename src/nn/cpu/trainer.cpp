#include <chrono>
#include <string>
#include <vector>

#include "nn/cpu/kernels.h"
#include "nn/cpu/network.h"
#include "nn/local_trainer.h"
#include "nn/trainers.h"

namespace subfleet {

bool has_cpu_trainer() { return true; }

NetworkFactory cpu_networks() { return cpu::make_network; }

std::unique_ptr<Trainer> make_cpu_trainer(ThreadPool& pool, const ExampleSource& source) {
  return make_local_trainer(pool, source, cpu::make_network);
}

std::string cpu_kernels() { return std::string(cpu::kernels().name); }

double cpu_peak(ThreadPool& pool) {
  constexpr size_t kRounds = size_t{1} << 21;
  std::vector<float> results(pool.threads());  // looked at below, so that the work is done
  double operations = 0;
  const auto start = std::chrono::steady_clock::now();
  pool.parallel_for(pool.threads(), [&](size_t index, size_t) {
    results[index] = cpu::kernels().multiply_add(kRounds, static_cast<float>(index));
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const float result : results) {
    operations += result < 0 ? 0 : static_cast<double>(cpu::kernels().operations_per_round * kRounds);
  }
  return operations / seconds;
}

}  // namespace subfleet
