#include "nn/trainers.h"

#include <array>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {
namespace {

bool always() { return true; }

struct TrainerEntry {
  std::string_view name;
  bool (*is_available)();
  std::unique_ptr<Trainer> (*make)(ThreadPool&);
};

constexpr std::array<TrainerEntry, 2> kTrainers{{
    {"reference", always, make_reference_trainer},
    {"cpu", has_cpu_trainer, make_cpu_trainer},
}};

}  // namespace

std::vector<JobReport> Trainer::train(std::span<const float> weights, std::span<const Job> jobs,
                                      const ReadExamples& read_examples, const LocalTraining& how,
                                      PartialSum& sum) {
  const Cohort only{.weights = weights, .jobs = jobs, .how = how, .sum = &sum};
  return std::move(train_together({&only, 1}, read_examples).front());
}

std::vector<std::string> trainer_names() {
  std::vector<std::string> names;
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.is_available()) names.emplace_back(entry.name);
  }
  return names;
}

std::unique_ptr<Trainer> make_trainer(std::string_view device, ThreadPool& pool) {
  for (const TrainerEntry& entry : kTrainers) {
    if (entry.name == device) return entry.make(pool);
  }
  throw unknown_name("device", device, trainer_names());
}

}  // namespace subfleet
