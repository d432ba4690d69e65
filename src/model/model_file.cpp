#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/model.h"

namespace subfleet {
namespace {

// The model file's content as a model, which may not take the name of another one in the zoo.
ModelSpec named_apart(std::string_view text, const std::filesystem::path& path) {
  ModelSpec model = parse_model(text, path.string());
  const std::vector<std::string> zoo = model_names();
  if (std::ranges::find(zoo, model.name) != zoo.end() && !(model == find_model(model.name))) {
    throw bad_request(path.string(),
                      fmt::format("name: '{}' is another model, of the zoo; choose a new name", model.name));
  }
  return model;
}

// A pipe can be read only once, but a command resolves its model several times: what came out is kept.
std::string text_of(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::string> pipes;
  std::error_code ignored;
  if (!std::filesystem::is_fifo(path, ignored)) return read_file(path, kMostTextBytes);
  const std::lock_guard lock(mutex);
  const auto found = pipes.find(path);
  if (found != pipes.end()) return found->second;
  return pipes[path] = read_file_or_pipe(path, kMostTextBytes);
}

}  // namespace

ModelSpec load_model_file(const std::filesystem::path& path) {
  return named_apart(read_file_or_pipe(path, kMostTextBytes), path);
}

ModelSpec resolve_model(const ModelOptions& options) {
  if (options.file.empty()) return find_model(options.name);
  ModelSpec model = named_apart(text_of(options.file), options.file);
  if (options.name != ModelOptions().name && options.name != model.name) {
    throw bad_request("model.file",
                      fmt::format("{} is '{}', but model.name is '{}'; leave one of the two out",
                                  options.file.string(), model.name, options.name));
  }
  return model;
}

}  // namespace subfleet
