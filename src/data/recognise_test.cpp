#include "subfleet/data/recognise.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

void touch(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "";
}

TEST(Recognise, TellsTheSourceByTheNames) {
  for (const auto& [file, source] : std::vector<std::pair<std::string, std::string>>{
           {"x-images-idx3-ubyte", "idx"},
           {"x-images-idx3-ubyte.gz", "idx"},
           {"data_batch_1.bin", "cifar"},
           {"train.bin", "cifar"},
           {"play/role.txt", "text"},
           {"all_data.json", "leaf"},
           {"train/all_data.json", "leaf"},
           {"fed_emnist_train.h5", "hdf5"},
       }) {
    const TemporaryFolder folder;
    EXPECT_THROW(recognise(folder.path()), Error);
    touch(folder / file);
    const DataOptions options = recognise(folder.path());
    EXPECT_EQ(options.source, source) << file;
    EXPECT_EQ(options.path, folder.path());
  }
}

TEST(Recognise, ASingleFileOrTheBeginningOfNamesWillDo) {
  const TemporaryFolder folder;
  for (const char* name : {"a.json", "a.h5", "a.txt", "emnist-byclass-train-images-idx3-ubyte"})
    touch(folder / name);
  EXPECT_EQ(recognise(folder / "a.json").source, "leaf");
  EXPECT_EQ(recognise(folder / "a.h5").source, "hdf5");
  EXPECT_THROW(recognise(folder / "a.txt"), Error);
  EXPECT_THROW(recognise(folder / "b"), Error);
  const DataOptions emnist = recognise(folder / "emnist-byclass");
  EXPECT_EQ(emnist.source, "idx");
  EXPECT_EQ(emnist.partition, "dirichlet");
  EXPECT_TRUE(emnist.transpose);
}

TEST(Recognise, WritersAreKeptAndOnlyEmnistIsTransposed) {
  const TemporaryFolder folder;
  touch(folder / "femnist-images-idx3-ubyte.gz");
  touch(folder / "femnist-writers-idx1-int.gz");
  EXPECT_EQ(recognise(folder.path()).partition, "auto");
  EXPECT_FALSE(recognise(folder.path()).transpose);
}

TEST(Recognise, GeneratedHandwritingIsOnDarkGround) {
  EXPECT_LT(margin_brightness(*open_federation({.writers = 3})), 0.1);
}

}  // namespace
}  // namespace subfleet
