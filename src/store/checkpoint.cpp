#include "store/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/provenance.h"

namespace subfleet {
namespace {

constexpr std::string_view kSetting = "setting.";  // before the name of each that a run cannot change

constexpr auto kModel = "model";  // as a model file

constexpr auto kFormat = "format";
constexpr auto kHash = "hash";

// The hash of all that a checkpoint holds, except the hash itself.
std::string content_hash(std::map<std::string, std::string> metadata, std::vector<TensorView> tensors) {
  metadata.erase(kHash);
  std::ranges::sort(tensors, {}, &TensorView::name);
  Hash hash;
  for (const auto& [name, value] : metadata) hash.add(name).add(value);
  for (const TensorView& tensor : tensors)
    hash.add(tensor.name).add_values(tensor.shape).add_values(tensor.values);
  return fmt::format("{:016x}", hash.value());
}

void check_content(const TensorFile& file, const std::string& path) {
  uint32_t format = 0;
  if (const auto text = file.metadata.find(kFormat); text != file.metadata.end()) {
    const char* const end = text->second.data() + text->second.size();
    if (std::from_chars(text->second.data(), end, format).ptr != end)
      throw bad_request(path, fmt::format("is damaged: its format is '{}', not a number", text->second));
  }
  check_run_format(format, path);
  const auto hash = file.metadata.find(kHash);
  if (hash == file.metadata.end() && format == 0) return;
  std::vector<TensorView> tensors;
  for (const auto& [name, tensor] : file.tensors) tensors.push_back({name, tensor.shape, tensor.values});
  if (hash == file.metadata.end() || hash->second != content_hash(file.metadata, std::move(tensors))) {
    throw bad_request(path,
                      "is damaged: its content is not what its hash was made of; put a copy back, or "
                      "start the run again");
  }
}

std::string moment_name(const std::string& name) { return "optimizer." + name; }

void check_settings(const FixedSettings& saved, const FixedSettings& mine, const std::string& path) {
  const auto name = first_difference(saved, mine);
  if (!name) return;
  const auto value = [&](const FixedSettings& settings) {
    const auto found = settings.find(*name);
    return found == settings.end() ? std::string("unset") : found->second;
  };
  throw bad_request(path, fmt::format("was saved with {} = {}, not {}; a run cannot change it", *name,
                                      value(saved), value(mine)));
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Run& run) {
  std::vector<TensorView> tensors = named_weights(run.model(), run.weights());
  for (const auto& moment : run.moments()) {
    tensors.push_back({moment_name(moment.name), {moment.values.size()}, moment.values});
  }
  std::map<std::string, std::string> metadata{{kFormat, std::to_string(kRunFormat)},
                                              {"round", std::to_string(run.round())},
                                              {kModel, model_toml(run.model())}};
  for (const auto& [name, value] : fixed_settings(run.config()))
    metadata.emplace(std::string(kSetting) + name, value);
  metadata.emplace(kHash, content_hash(metadata, tensors));
  save_safetensors(path, tensors, metadata);
}

void load_checkpoint(const std::filesystem::path& path, Run& run) {
  const TensorFile file = load_safetensors(path);
  check_content(file, path.string());
  const auto text = file.metadata.find("round");
  uint32_t round = 0;
  if (text == file.metadata.end() ||
      std::from_chars(text->second.data(), text->second.data() + text->second.size(), round).ec !=
          std::errc()) {
    throw bad_request(path.string(), "is not a checkpoint: it names no round");
  }
  FixedSettings saved;
  for (const auto& [name, value] : file.metadata) {
    if (name.starts_with(kSetting)) saved.emplace(name.substr(kSetting.size()), value);
  }
  add_later_settings(saved);
  const auto model = file.metadata.find(kModel);
  if (model == file.metadata.end() || model->second != model_toml(run.model())) {
    throw bad_request(
        path.string(),
        fmt::format("was saved for another model than this {}; a run cannot change it", run.model().name));
  }
  check_settings(saved, fixed_settings(run.config()), path.string());
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
