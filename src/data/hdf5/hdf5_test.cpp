#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/complaint_testing.h"
#include "python_data.h"
#include "subfleet/base/file.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// A data set by h5py, or a skipped test where there is none.
#define WRITE_OR_SKIP(name)                       \
  if (!write_python_data(name, folder_.path())) { \
    GTEST_SKIP() << "python3-h5py is absent";     \
  }

class Hdf5Files : public testing::Test {
 protected:
  DataOptions options() const { return {.source = "hdf5", .path = folder_.path()}; }
  DataOptions one_file() const { return {.source = "hdf5", .path = folder_ / "fed_emnist_train.h5"}; }
  TemporaryFolder folder_;
};

bool contains(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST_F(Hdf5Files, ReadsWhatH5pyWritesWithItsOwnSplit) {
  WRITE_OR_SKIP("hdf5")
  DataOptions raw = options();
  raw.raw_polarity = true;
  const SplitFederation data = open_split_federation(raw);
  EXPECT_EQ(data.all().input(), (Shape{1, 28, 28}));
  ASSERT_EQ(data.clients(), 3u);
  const std::vector<uint32_t> train{4, 3, 5}, test{1, 2, 1};
  for (uint32_t client = 0; client < 3; ++client) {
    EXPECT_EQ(data.train_samples(client), train[client]);
    EXPECT_EQ(data.test(client).count(), test[client]);
    const Examples all = data.all().load(client);
    for (size_t i = 0; i < all.count(); ++i) {
      EXPECT_EQ(all.labels[i], written_label(client, i));
      for (size_t place = 0; place < 784; ++place) {
        ASSERT_EQ(all.input(i)[place], static_cast<float>(written_pixel(client, i, place)) / 255.0f);
      }
    }
  }
}

TEST_F(Hdf5Files, HasTheSameExamplesAsLeafsJson) {
  WRITE_OR_SKIP("hdf5")
  const TemporaryFolder leaf;
  ASSERT_TRUE(write_python_data("leaf-femnist", leaf.path()));
  EXPECT_EQ(open_federation(options())->fingerprint(),
            open_federation({.source = "leaf", .path = leaf.path()})->fingerprint());
}

TEST_F(Hdf5Files, FoldersThatAreNoDataSetSayWhatIsMissing) {
  EXPECT_PRED2(contains, complaint_about({.source = "hdf5"}), "data.path: is not set");
  EXPECT_PRED2(contains, complaint_about(options()), "holds no file *train.h5");
  EXPECT_PRED2(contains, complaint_about({.source = "hdf5", .path = folder_ / "none"}), "cannot be searched");
  std::ofstream(folder_ / "fed_emnist_train.h5") << "no HDF5";
  EXPECT_PRED2(contains, complaint_about(options()), "holds no file *test.h5");
  std::ofstream(folder_ / "fed_emnist_test.h5") << "no HDF5";
  EXPECT_PRED2(contains, complaint_about(options()), "fed_emnist_train.h5: is not an HDF5 file");
}

TEST_F(Hdf5Files, WrongFilesAreOneLine) {
  WRITE_OR_SKIP("hdf5-good")
  EXPECT_EQ(open_federation(one_file())->clients(), 1u);
  for (const auto& [bad, part] : std::vector<std::pair<std::string, std::string>>{
           {"no-examples", "has no /examples"},
           {"no-users", "holds no users"},
           {"dataset-as-user", "has no /examples/b/pixels"},
           {"no-label", "has no /examples/a/label"},
           {"group-as-pixels", "/examples/a/pixels cannot be read"},
           {"flat-pixels", "user 'a' has pixels of [2, 784]; expected [N, 28, 28]"},
           {"small-pixels", "pixels of [2, 28, 27]"},
           {"byte-pixels", "/examples/a/pixels is not of floating-point numbers"},
           {"nan-pixel", "a pixel of nan; pixels are from 0 to 1"},
           {"large-pixel", "a pixel of 255"},
           {"three-labels", "has labels of [3]; expected [2]"},
           {"large-label", "the label 62; labels are from 0 to 61"},
           {"negative-label", "the label -1"},
           {"float-label", "/examples/a/label is not of whole numbers"},
           {"scalar-label", "has labels of []; expected [2]"},
           {"none", "user 'a' has no examples"},
           {"absurd", "100000000"},
           {"large-chunks", "is stored in chunks of 3136000000 bytes"},
           {"packed", "user 'a' claims 30000 pictures, too many for a file of"},
           {"linked-elsewhere", "/examples/a/pixels leads elsewhere"},
           {"stored-elsewhere", "/examples/a/pixels is stored elsewhere"},
       }) {
    ASSERT_TRUE(write_python_data("hdf5-" + bad, folder_.path()));
    EXPECT_PRED2(contains, complaint_about(one_file()), part) << bad;
    EXPECT_PRED2(contains, complaint_about(one_file()), one_file().path.string()) << bad;
  }
}

TEST_F(Hdf5Files, EveryTruncationIsRefused) {
  WRITE_OR_SKIP("hdf5-good")
  const std::string whole = read_file(one_file().path);
  for (size_t length = 0; length < whole.size(); length += 97) {
    std::ofstream(one_file().path, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    complaint_about(one_file());
  }
}

}  // namespace
}  // namespace subfleet
