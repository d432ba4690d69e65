#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "subfleet/reproduce/experiment.h"

namespace subfleet {

// The experiments of a folder: those of the paper in paper/, the others in beyond/.
class ExperimentLibrary {
 public:
  // `change` may change every configuration but those of facts.
  ExperimentLibrary(std::filesystem::path folder, std::function<void(Config&)> change)
      : folder_(std::move(folder)), change_(std::move(change)) {}

  // "all" (the paper's), "beyond" or names; before each stands what it takes its runs or rates from. Throws
  // Error.
  std::vector<Experiment> choose(const std::vector<std::string>& what);

  std::vector<std::string> names() const;  // of all there are, the paper's first

 private:
  const Experiment& load(const std::string& name);
  void add(const std::string& name, std::vector<std::string>& order, size_t depth);

  std::filesystem::path folder_;
  std::function<void(Config&)> change_;
  std::map<std::string, Experiment> loaded_;
};

}  // namespace subfleet
