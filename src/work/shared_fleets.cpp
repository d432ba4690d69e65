#include "subfleet/work/shared_fleets.h"

#include <fmt/format.h>

#include "subfleet/error.h"
#include "subfleet/run.h"

namespace subfleet {

std::string data_settings(const Config& config) {
  std::string text;
  for (const Setting& setting : settings(config)) {
    if (setting.name.starts_with("data.") || setting.name == "run.eval_samples")
      text += fmt::format("{} = {}\n", setting.name, setting.value);
  }
  return text;
}

void SharedFleets::check(const Config& config, bool tested) {
  const std::string name = data_settings(config);
  const auto fits = [&](const SplitFederation& data) {
    check_fits(config, resolve_model(config.model), data.clients(), data.all().input(), data.all().classes());
    if (tested && data.test_set(1).count() == 0)
      throw bad_request("data", "have no test examples; see data.test_fraction");
  };
  if (name == fleet_data_) return fits(fleet_->data());
  auto found = data_.find(name);
  if (found == data_.end()) found = data_.emplace(name, open_split_federation(config.data)).first;
  fits(found->second);
}

Fleet& SharedFleets::fleet(const Config& config) {
  const std::string name = data_settings(config);
  if (name != fleet_data_) {
    check(config);
    fleet_.reset();
    fleet_data_.clear();  // so that no fleet is left if making one fails
    fleet_ = std::make_unique<LocalFleet>(std::move(data_.extract(name).mapped()), device_, pool_,
                                          config.run.eval_samples);
    fleet_data_ = name;
  }
  return *fleet_;
}

}  // namespace subfleet
