#include "subfleet/server_optimizer.h"

#include <array>

#include "optimizers/optimizers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

struct Entry {
  std::string_view name;
  double default_lr;
  bool wants_squared_norms;
  std::unique_ptr<ServerOptimizer> (*make)(const OptimizerOptions&, size_t weights);
};

constexpr std::array<Entry, 5> kOptimizers{{
    {"fedavg", 1.0, false, make_fedavg},
    {"fedadam", 0.01, false, make_fedadam},
    {"fedadagrad", 0.01, false, make_fedadagrad},
    {"fedyogi", 0.01, false, make_fedyogi},
    {"fedexp", 1.0, true, make_fedexp},
}};

const Entry& find(std::string_view name) {
  for (const Entry& entry : kOptimizers) {
    if (entry.name == name) return entry;
  }
  throw unknown_name("server.optimizer", name, server_optimizer_names());
}

}  // namespace

std::vector<std::string> server_optimizer_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kOptimizers) names.emplace_back(entry.name);
  return names;
}

bool wants_squared_norms(std::string_view optimizer) { return find(optimizer).wants_squared_norms; }

double default_server_lr(std::string_view optimizer) { return find(optimizer).default_lr; }

std::unique_ptr<ServerOptimizer> make_server_optimizer(const OptimizerOptions& options, size_t weights) {
  const Entry& entry = find(options.optimizer);
  OptimizerOptions resolved = options;
  if (resolved.lr == 0) resolved.lr = entry.default_lr;
  return entry.make(resolved, weights);
}

}  // namespace subfleet
