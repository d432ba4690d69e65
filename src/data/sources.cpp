#include "data/sources.h"

#include <string>
#include <vector>

#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

struct Source {
  std::string_view name;
  std::unique_ptr<Federation> (*open)(const DataOptions&);
};

// clang-format off
constexpr Source kSources[] = {
    {"glyphs", open_glyphs},
    {"idx", open_idx},
    {"cifar", open_cifar},
    {"text", open_text},
    {"leaf", open_leaf},
    {"hdf5", open_hdf5},
};
// clang-format on

}  // namespace

std::vector<std::string> data_source_names() {
  std::vector<std::string> names;
  for (const Source& source : kSources) names.emplace_back(source.name);
  return names;
}

std::unique_ptr<Federation> open_federation(const DataOptions& options) {
  for (const Source& source : kSources) {
    if (source.name == options.source) return source.open(options);
  }
  if (options.source == kArrays) {
    throw bad_request("data.source",
                      "'arrays' are in the memory of the program that has them (docs/python.md), "
                      "so its data are not to be found here");
  }
  throw unknown_name("data.source", options.source, data_source_names());
}

SplitFederation open_split_federation(const DataOptions& options) {
  return {open_federation(options), options.seed, options.test_fraction};
}

}  // namespace subfleet
