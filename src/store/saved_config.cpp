#include "subfleet/store/saved_config.h"

#include "base/toml_text.h"
#include "server/config_table.h"
#include "store/saved_config_table.h"
#include "subfleet/base/file.h"
#include "subfleet/model.h"

namespace subfleet {

void save_config(const std::filesystem::path& file, const Config& config) {
  Config saved = config;
  if (!config.model.file.empty()) {
    write_file(file.parent_path() / kModelFile, model_toml(resolve_model(config.model)));
    saved.model.file = kModelFile;
  }
  write_file(file, to_toml(saved));
}

Config load_config(const std::filesystem::path& file) {
  return read_saved_config(parse_toml(read_file(file, kMostTextBytes), file.string()), file);
}

Config read_saved_config(const toml::table& table, const std::filesystem::path& file) {
  Config config = read_config(table, file.string());
  if (config.model.file == kModelFile) config.model.file = file.parent_path() / kModelFile;
  return config;
}

}  // namespace subfleet
