#include "reproduce/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "codes/gold.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "subfleet/submodel.h"

namespace subfleet {
namespace {

// The parameters of the layer of that name; of its weights alone, where `weights` says so.
double layer_parameters(const ModelSpec& model, const std::string& layer, bool weights) {
  size_t count = 0;
  for (const ParameterSpec& parameter : model_parameters(model)) {
    if (parameter.name == layer + ".weight" || (!weights && parameter.name == layer + ".bias"))
      count += parameter.size();
  }
  if (count == 0) throw bad_request("layer", fmt::format("'{}' is none of {}", layer, model.name));
  return static_cast<double>(count);
}

ModelSpec submodel_of(const Config& config) {
  return RoundMasks(resolve_model(config.model), config.code, config.run.seed, 0, config.round.clients)
      .submodel(0, 0)
      .spec();
}

int degree_of(const ExpectedValue& value) {
  if (!value.at) throw bad_request("at", "must be the degree");
  return static_cast<int>(*value.at);
}

// The largest correlation, in absolute value, of the family's first two words, the preferred pair, at any
// shift.
double pair_correlation(int degree) {
  const std::vector<Bits> words = gold_words(degree);
  const auto length = static_cast<long>(words[0].size());
  long largest = 0;
  for (size_t shift = 0; shift < words[0].size(); ++shift) {
    const Bits sum = xor_shifted(words[0], words[1], shift);
    largest = std::max(largest, std::abs(length - 2 * std::count(sum.begin(), sum.end(), 1)));
  }
  return static_cast<double>(largest);
}

using Fact = std::function<double(const ExpectedValue&, const Config&)>;

const std::vector<std::pair<std::string, Fact>>& facts() {
  using Value = const ExpectedValue&;
  using Settings = const Config&;
  static const std::vector<std::pair<std::string, Fact>> table{
      {"parameters",
       [](Value, Settings c) { return static_cast<double>(parameter_count(resolve_model(c.model))); }},
      {"parameters of a sub-model",
       [](Value, Settings c) { return static_cast<double>(parameter_count(submodel_of(c))); }},
      {"parameters saved",
       [](Value, Settings c) {
         const auto part = static_cast<double>(parameter_count(submodel_of(c)));
         return 100 * (1 - part / static_cast<double>(parameter_count(resolve_model(c.model))));
       }},
      {"parameters of a layer",
       [](Value v, Settings c) { return layer_parameters(resolve_model(c.model), v.layer, false); }},
      {"weights of a layer",
       [](Value v, Settings c) { return layer_parameters(resolve_model(c.model), v.layer, true); }},
      {"weights of a sub-model's layer",
       [](Value v, Settings c) { return layer_parameters(submodel_of(c), v.layer, true); }},
      {"words of the Gold family",
       [](Value v, Settings) { return static_cast<double>(gold_words(degree_of(v)).size()); }},
      {"length of a Gold word",
       [](Value v, Settings) { return static_cast<double>(gold_words(degree_of(v))[0].size()); }},
      {"correlation of the preferred pair", [](Value v, Settings) { return pair_correlation(degree_of(v)); }},
  };
  return table;
}

}  // namespace

std::vector<std::string> fact_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : facts()) names.push_back(name);
  return names;
}

double fact(const ExpectedValue& value, const Config& config) {
  for (const auto& [name, function] : facts()) {
    if (name == value.measure) return function(value, config);
  }
  throw unknown_name("measure", value.measure, fact_names());
}

}  // namespace subfleet
