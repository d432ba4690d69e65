#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet {

ModelSpec load_model_file(const std::filesystem::path& path) {
  ModelSpec model = parse_model(read_file(path), path.string());
  const std::vector<std::string> zoo = model_names();
  if (std::ranges::find(zoo, model.name) != zoo.end() && !(model == find_model(model.name))) {
    throw bad_request(path.string(),
                      fmt::format("name: '{}' is another model, of the zoo; choose a new name", model.name));
  }
  return model;
}

ModelSpec resolve_model(const ModelOptions& options) {
  if (options.file.empty()) return find_model(options.name);
  ModelSpec model = load_model_file(options.file);
  if (options.name != ModelOptions().name && options.name != model.name) {
    throw bad_request("model.file",
                      fmt::format("{} is '{}', but model.name is '{}'; leave one of the two out",
                                  options.file.string(), model.name, options.name));
  }
  return model;
}

}  // namespace subfleet
