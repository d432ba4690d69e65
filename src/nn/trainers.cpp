#include "nn/trainers.h"

#include <array>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {
namespace {

bool always() { return true; }
std::string plain_loops() { return {}; }

struct TrainerEntry {
  std::string_view name;
  bool (*is_available)();
  std::unique_ptr<Trainer> (*make)(ThreadPool&, const ExampleSource&);
  std::string (*kernels)();
};

constexpr std::array<TrainerEntry, 2> kTrainers{{
    {"reference", always, make_reference_trainer, plain_loops},
    {"cpu", has_cpu_trainer, make_cpu_trainer, cpu_kernels},
}};

}  // namespace

std::vector<std::string> trainer_names() {
  std::vector<std::string> names;
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.is_available()) names.emplace_back(entry.name);
  }
  return names;
}

std::unique_ptr<Trainer> make_trainer(std::string_view device, ThreadPool& pool,
                                      const ExampleSource& source) {
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.name == device) return entry.make(pool, source);
  }
  throw unknown_name("device", device, trainer_names());
}

std::string trainer_kernels(std::string_view device) {
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.name == device) return entry.kernels();
  }
  throw unknown_name("device", device, trainer_names());
}

}  // namespace subfleet
