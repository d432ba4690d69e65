#include "store/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "subfleet/error.h"
#include "subfleet/safetensors.h"

namespace subfleet {
namespace {

std::string moment_name(const std::string& name) { return "optimizer." + name; }

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Run& run) {
  std::vector<TensorView> tensors = named_weights(run.model(), run.weights());
  for (const auto& moment : run.moments()) {
    tensors.push_back({moment_name(moment.name), {moment.values.size()}, moment.values});
  }
  std::map<std::string, std::string> metadata = fixed_settings(run.config());
  metadata.emplace("round", std::to_string(run.round()));
  save_safetensors(path, tensors, metadata);
}

void load_checkpoint(const std::filesystem::path& path, Run& run) {
  const TensorFile file = load_safetensors(path);
  const auto text = file.metadata.find("round");
  uint32_t round = 0;
  if (text == file.metadata.end() ||
      std::from_chars(text->second.data(), text->second.data() + text->second.size(), round).ec !=
          std::errc()) {
    throw bad_request(path.string(), "is no checkpoint: it names no round");
  }
  for (const auto& [name, value] : fixed_settings(run.config())) {
    const auto saved = file.metadata.find(name);
    if (saved == file.metadata.end() || saved->second != value) {
      throw bad_request(path.string(),
                        fmt::format("was saved with {} = {}, not {}; a run cannot change it", name,
                                    saved == file.metadata.end() ? "nothing" : saved->second, value));
    }
  }
  const std::vector<float> weights = weights_from(file, run.model(), path.string());
  std::vector<std::vector<float>> moments;
  for (const auto& moment : run.moments()) {
    const auto found = file.tensors.find(moment_name(moment.name));
    if (found == file.tensors.end() || found->second.values.size() != moment.values.size()) {
      throw bad_request(
          path.string(),
          fmt::format("lacks the optimizer's '{}'; it was saved by another optimizer", moment.name));
    }
    if (!std::ranges::all_of(found->second.values, [](float value) { return std::isfinite(value); })) {
      throw bad_request(path.string(),
                        fmt::format("the optimizer's '{}' holds values that are not finite", moment.name));
    }
    moments.push_back(found->second.values);
  }
  run.restore(round, weights, moments);
}

}  // namespace subfleet
