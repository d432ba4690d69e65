#include <fmt/format.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/client_table.h"
#include "data/find_files.h"
#include "data/leaf_shard.h"
#include "data/sources.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

// The folder's shards by name, or the one shard.
std::vector<fs::path> find_shards(const fs::path& path) {
  std::error_code code;
  if (fs::is_regular_file(path, code)) return {path};
  std::vector<fs::path> found = find_files(path, "", {".json"});
  if (found.empty()) {
    throw bad_request(path_name(path), "holds no file *.json and no folders train and test with some");
  }
  return found;
}

void read_shard(const fs::path& path, const LeafUser& user) {
  std::error_code ignored;
  std::ifstream in;
  if (fs::is_regular_file(path, ignored)) in.open(path, std::ios::binary);  // a pipe would wait for a writer
  if (!in.is_open()) throw bad_request(path_name(path), "is not a file that can be read");
  read_leaf_shard(in, path_name(path), user);
}

}  // namespace

std::unique_ptr<Federation> open_leaf(const DataOptions& options) {
  if (options.path.empty()) {
    throw bad_request(
        "data.path",
        "is not set; the leaf source needs a folder with train/*.json and test/*.json, or with *.json");
  }
  const fs::path train = options.path / "train", test = options.path / "test";
  std::error_code ignored;
  const bool has_train = fs::is_directory(train, ignored), has_test = fs::is_directory(test, ignored);
  if (has_train != has_test) {
    throw bad_request(path_name(options.path),
                      fmt::format("holds a folder {} but no {}; both are needed, or data.path as the one "
                                  "folder with *.json",
                                  has_train ? "train" : "test", has_train ? "test" : "train"));
  }
  ClientTable table(has_train);
  for (const fs::path& shard : find_shards(has_train ? train : options.path)) {
    read_shard(shard, [&](const std::string& name, ExampleKind kind, ClientExamples examples) {
      table.add_train(shard, name, kind, std::move(examples));
    });
  }
  if (!has_test) return std::move(table).federation(options);
  for (const fs::path& shard : find_shards(test)) {
    read_shard(shard, [&](const std::string& name, ExampleKind kind, const ClientExamples& examples) {
      table.add_test(shard, name, kind, examples);
    });
  }
  return std::move(table).federation(options);
}

}  // namespace subfleet
