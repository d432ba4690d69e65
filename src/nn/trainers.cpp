#include "nn/trainers.h"

#include <array>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {
namespace {

bool always() { return true; }
void is_awake() {}
std::string plain_loops() { return {}; }
double unknown_peak(ThreadPool&) { return 0; }
uint64_t no_memory() { return 0; }
NetworkFactory gpu_networks() {
  throw bad_request("device cuda", "trains many jobs at once and no single ones; use cpu or reference");
}

struct TrainerEntry {
  std::string_view name;
  bool (*is_available)();
  void (*wake)();
  std::unique_ptr<Trainer> (*make)(ThreadPool&, const ExampleSource&);
  NetworkFactory (*networks)();
  std::string (*kernels)();
  double (*peak)(ThreadPool&);
  uint64_t (*memory)();
};

constexpr std::array<TrainerEntry, 4> kTrainers{{
    {"reference", always, is_awake, make_reference_trainer, reference_networks, plain_loops, unknown_peak,
     no_memory},
    {"cpu", has_cpu_trainer, is_awake, make_cpu_trainer, cpu_networks, cpu_kernels, cpu_peak, no_memory},
    {"cuda", has_cuda_trainer, wake_cuda, make_cuda_trainer, gpu_networks, cuda_kernels, cuda_peak,
     cuda_memory},
    {"cuda-tf32", has_cuda_trainer, wake_cuda, make_cuda_tf32_trainer, gpu_networks, cuda_kernels, cuda_peak,
     cuda_memory},
}};

const TrainerEntry& find_entry(std::string_view device) {
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.name == device) return entry;
  }
  throw unknown_name("device", device, trainer_names());
}

}  // namespace

std::vector<std::string> trainer_names() {
  std::vector<std::string> names;
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.is_available()) names.emplace_back(entry.name);
  }
  return names;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const TrainerEntry& entry : kTrainers) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Trainer> make_trainer(std::string_view device, ThreadPool& pool,
                                      const ExampleSource& source) {
  return find_entry(device).make(pool, source);
}

NetworkFactory host_networks(std::string_view device) { return find_entry(device).networks(); }

void wake_device(std::string_view device) { find_entry(device).wake(); }

std::string trainer_kernels(std::string_view device) { return find_entry(device).kernels(); }
double trainer_peak(std::string_view device, ThreadPool& pool) { return find_entry(device).peak(pool); }
uint64_t trainer_memory(std::string_view device) { return find_entry(device).memory(); }

}  // namespace subfleet
