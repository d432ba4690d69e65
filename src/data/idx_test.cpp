#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "data/complaint_testing.h"
#include "subfleet/data.h"
#include "subfleet/data/recognise.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

std::string gzipped(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  std::string input = plain;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Unlike base/file.h's, without waiting for the disk.
void write_quickly(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Six images of 2 x 3 by three writers, out of order; every pixel of image i is 10 * i + its place.
class IdxFiles : public testing::Test {
 protected:
  void SetUp() override {
    images_ = big_endian(0x803) + big_endian(6) + big_endian(2) + big_endian(3);
    labels_ = big_endian(0x801) + big_endian(6);
    writers_ = big_endian(0xC01) + big_endian(6);
    for (int i = 0; i < 6; ++i) {
      for (int pixel = 0; pixel < 6; ++pixel) images_.push_back(static_cast<char>(10 * i + pixel));
    }
    for (const int label : {3, 1, 4, 1, 5, 9}) labels_.push_back(static_cast<char>(label));
    for (const uint32_t writer : {7u, 2u, 7u, 400u, 2u, 7u}) writers_ += big_endian(writer);
    write_all();
  }
  void write_all() {
    write_quickly(folder_ / "x-images-idx3-ubyte", images_);
    write_quickly(folder_ / "x-labels-idx1-ubyte", labels_);
    write_quickly(folder_ / "x-writers-idx1-int", writers_);
  }

  DataOptions options() const { return {.source = "idx", .path = path_}; }
  std::unique_ptr<Federation> open(uint32_t min_samples = 0, bool raw_polarity = false) const {
    DataOptions all = options();
    all.min_samples = min_samples;
    all.raw_polarity = raw_polarity;
    return open_federation(all);
  }

  std::string complaint() const { return complaint_about(options()); }

  // Opens and reads everything, or gets an Error; anything else escapes and fails the test.
  bool opens() const {
    try {
      const auto data = open();
      for (uint32_t client = 0; client < data->clients(); ++client) data->load(client);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path();
  std::string images_, labels_, writers_;
};

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST_F(IdxFiles, GroupsByWriterInTheDataOrder) {
  const auto data = open();
  ASSERT_EQ(data->clients(), 3u);
  EXPECT_EQ(data->input(), (Shape{1, 2, 3}));
  EXPECT_EQ(data->classes(), 10u);
  EXPECT_EQ(data->load(0).labels, (std::vector<int32_t>{1, 5}));     // writer 2
  EXPECT_EQ(data->load(1).labels, (std::vector<int32_t>{3, 4, 9}));  // writer 7
  EXPECT_EQ(data->load(2).labels, (std::vector<int32_t>{1}));        // writer 400
  EXPECT_EQ(data->samples(1), 3u);
  EXPECT_FLOAT_EQ(data->load(1).input(2)[4], 1 - 54.0f / 255);
}

TEST_F(IdxFiles, RawPolarityKeepsTheBytes) {
  EXPECT_FLOAT_EQ(open(0, true)->load(1).input(2)[4], 54.0f / 255);
}

TEST_F(IdxFiles, MinSamplesLeavesClientsOut) {
  EXPECT_EQ(open(2)->clients(), 2u);
  EXPECT_EQ(open(3)->clients(), 1u);
  EXPECT_THROW(open(4), Error);
}

TEST_F(IdxFiles, GzippedAndPlainFilesReadTheSame) {
  const Examples plain = open()->load(1);
  fs::remove(folder_ / "x-images-idx3-ubyte");
  write_quickly(folder_ / "x-images-idx3-ubyte.gz", gzipped(images_));
  EXPECT_EQ(open()->load(1).inputs, plain.inputs);
}

TEST_F(IdxFiles, NeedsAPath) {
  path_.clear();
  EXPECT_SAYS(complaint(), "data.path: is not set");
}

TEST_F(IdxFiles, SaysWhichFileIsMissingOrTwice) {
  write_quickly(folder_ / "y-labels-idx1-ubyte", labels_);
  EXPECT_SAYS(complaint(), "x-labels-idx1-ubyte and y-labels-idx1-ubyte");
  fs::remove(folder_ / "x-labels-idx1-ubyte");
  fs::remove(folder_ / "y-labels-idx1-ubyte");
  EXPECT_SAYS(complaint(), "holds no file *-labels-idx1-ubyte");
  path_ /= "nowhere";
  EXPECT_SAYS(complaint(), "holds no file nowhere*-images-idx3-ubyte");
  path_ /= "deeper";
  EXPECT_SAYS(complaint(), "cannot be searched");
}

TEST_F(IdxFiles, WrongMagicNamesTheRightOne) {
  images_[3] = 1;
  write_all();
  EXPECT_SAYS(complaint(), "0x00000803");
  EXPECT_SAYS(complaint(), "x-images-idx3-ubyte");
}

TEST_F(IdxFiles, CountsThatDisagreeAreRefused) {
  labels_ = big_endian(0x801) + big_endian(5) + std::string(5, '\1');
  write_all();
  EXPECT_SAYS(complaint(), "5 values for the 6 images");
}

TEST_F(IdxFiles, TrailingBytesAreRefused) {
  writers_ += '\0';
  write_all();
  EXPECT_SAYS(complaint(), "after its end");
}

TEST_F(IdxFiles, AbsurdSizesAreRefusedWithoutAllocating) {
  images_ = big_endian(0x803) + big_endian(0xFFFFFFFF) + big_endian(4096) + big_endian(4096);
  write_all();
  EXPECT_SAYS(complaint(), "claims a size of 4294967295 x 4096 x 4096");
  images_ = big_endian(0x803) + big_endian(6) + big_endian(0xFFFFFFFF) + big_endian(0xFFFFFFFF);
  write_all();
  EXPECT_SAYS(complaint(), "every side must be");
  images_ =
      big_endian(0x803) + big_endian(250) + big_endian(4096) + big_endian(4096);  // 4 GB, allowed but absent
  write_all();
  EXPECT_SAYS(complaint(), "truncated: a file of 16 bytes");
}

TEST_F(IdxFiles, ASmallFileThatClaimsGigabytesIsRefusedByItsHeader) {
  const std::string header = big_endian(0x803) + big_endian(1'000'000) + big_endian(64) + big_endian(64);
  images_ = header + std::string(100, '\0');
  write_all();
  EXPECT_SAYS(complaint(), "a file of 116 bytes, where its header says 1000000 x 64 x 64");
  fs::remove(folder_ / "x-images-idx3-ubyte");
  write_quickly(folder_ / "x-images-idx3-ubyte.gz", gzipped(header + std::string(3'000'000, '\0')));
  EXPECT_SAYS(complaint(), "is truncated: a file of");
}

TEST_F(IdxFiles, ASmallGzipThatWouldFillTheMemoryIsRefused) {
  fs::remove(folder_ / "x-images-idx3-ubyte");
  const std::string header = big_endian(0x803) + big_endian(100'000) + big_endian(28) + big_endian(28);
  std::string zeros;
  zeros.resize(78'400'000);
  write_quickly(folder_ / "x-images-idx3-ubyte.gz", gzipped(header + zeros));
  EXPECT_SAYS(complaint(), "claims 100000 x 28 x 28 = 78400000; at most 67108864 are unpacked");
}

TEST_F(IdxFiles, AGzipOfSeveralMembersIsOneFile) {
  fs::remove(folder_ / "x-images-idx3-ubyte");
  const fs::path packed = folder_ / "x-images-idx3-ubyte.gz";
  write_quickly(packed, gzipped(images_.substr(0, 20)) + gzipped(images_.substr(20)));
  EXPECT_TRUE(opens());
  write_quickly(packed, gzipped(images_) + "more");
  EXPECT_SAYS(complaint(), "cannot be unpacked");
}

TEST_F(IdxFiles, NoImagesAndNegativeWritersAreRefused) {
  writers_.replace(8, 4, big_endian(0xFFFFFFFE));
  write_all();
  EXPECT_SAYS(complaint(), "the writer -2");
  images_ = big_endian(0x803) + big_endian(0) + big_endian(2) + big_endian(3);
  labels_ = big_endian(0x801) + big_endian(0);
  writers_ = big_endian(0xC01) + big_endian(0);
  write_all();
  EXPECT_SAYS(complaint(), "no images");
}

TEST_F(IdxFiles, EveryTruncationIsRefused) {
  for (std::string* file : {&images_, &labels_, &writers_}) {
    const std::string whole = *file;
    for (size_t length = 0; length < whole.size(); ++length) {
      *file = whole.substr(0, length);
      write_all();
      EXPECT_FALSE(opens()) << length << " of " << whole.size() << " bytes";
    }
    *file = whole;
  }
  write_all();
  EXPECT_TRUE(opens());
}

TEST_F(IdxFiles, EveryTruncationOfAGzipIsRefused) {
  fs::remove(folder_ / "x-images-idx3-ubyte");
  const std::string packed = gzipped(images_);
  for (size_t length = 0; length < packed.size(); ++length) {
    write_quickly(folder_ / "x-images-idx3-ubyte.gz", packed.substr(0, length));
    EXPECT_FALSE(opens()) << length << " of " << packed.size() << " bytes";
  }
}

TEST_F(IdxFiles, FlippedBitsAreRefusedOrRead) {
  size_t refused = 0;
  for (std::string* file : {&images_, &labels_, &writers_}) {
    const std::string whole = *file;
    for (size_t at = 0; at < 16; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        *file = whole;
        (*file)[at] = static_cast<char>((*file)[at] ^ (1 << bit));
        write_all();
        const bool read = opens();
        refused += !read;
        if (at < 8) {
          EXPECT_FALSE(read) << "byte " << at << " bit " << bit;
        }
      }
    }
    *file = whole;
  }
  EXPECT_GE(refused, 3u * 8 * 8);
}

TEST_F(IdxFiles, FlippedBitsOfAGzipAreRefusedOrRead) {
  fs::remove(folder_ / "x-images-idx3-ubyte");
  const std::string packed = gzipped(images_);
  for (size_t at = 0; at < packed.size(); ++at) {
    std::string broken = packed;
    broken[at] = static_cast<char>(broken[at] ^ (1 << (at % 8)));
    write_quickly(folder_ / "x-images-idx3-ubyte.gz", broken);
    opens();
  }
}

TEST_F(IdxFiles, WithoutWritersTheImagesAreDealt) {
  fs::remove(folder_ / "x-writers-idx1-int");
  EXPECT_SAYS(complaint(), "holds no file *-writers-idx1-int");
  EXPECT_SAYS(complaint(), "set data.partition to iid, dirichlet or shards");
  for (const char* partition : {"iid", "dirichlet", "shards"}) {
    const auto data =
        open_federation({.source = "idx", .path = path_, .partition = partition, .clients = 3, .shards = 1});
    ASSERT_EQ(data->clients(), 3u);
    for (uint32_t client = 0; client < 3; ++client) {
      EXPECT_EQ(data->samples(client), 2u);
      EXPECT_FALSE(data->own_test_samples(client));
    }
  }
}

TEST_F(IdxFiles, TransposedImagesAreTurned) {
  const auto data =
      open_federation({.source = "idx", .path = path_, .raw_polarity = true, .transpose = true});
  EXPECT_EQ(data->input(), (Shape{1, 3, 2}));
  const Examples turned = data->load(2);  // image 3: rows 30 31 32 and 33 34 35
  const std::vector<float> expected{30, 33, 31, 34, 32, 35};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(turned.input(0)[i], expected[i] / 255);
}

// EMNIST's files: several sets in one folder, each with a training and a test set.
TEST_F(IdxFiles, ATestSetBesideItsTrainingSetStaysOne) {
  for (const char* file : {"x-images-idx3-ubyte", "x-labels-idx1-ubyte", "x-writers-idx1-int"})
    fs::remove(folder_ / file);
  for (const char* set : {"emnist-digits", "emnist-byclass"}) {
    const auto name = [&](const std::string& rest) { return folder_ / (set + rest); };
    write_quickly(name("-train-images-idx3-ubyte.gz"), gzipped(images_));
    write_quickly(name("-train-labels-idx1-ubyte.gz"), gzipped(labels_));
    write_quickly(name("-test-images-idx3-ubyte.gz"), gzipped(images_));
    write_quickly(name("-test-labels-idx1-ubyte.gz"),
                  gzipped(big_endian(0x801) + big_endian(6) + "\x14\x15\x16\x17\x18\x19"));
  }
  EXPECT_SAYS(complaint(), "holds both emnist-byclass-test-images-idx3-ubyte.gz and emnist-byclass-train");
  EXPECT_SAYS(complaint(), "let data.path end with what its names begin with");
  path_ /= "emnist-byclass";
  EXPECT_SAYS(complaint(), "holds no file emnist-byclass-train*-writers-idx1-int");
  const SplitFederation data =
      open_split_federation({.source = "idx", .path = path_, .partition = "iid", .clients = 4});
  EXPECT_EQ(data.all().classes(), 26u);
  std::vector<int32_t> trained;
  for (uint32_t client = 0; client < 4; ++client) {
    const Examples examples = data.train(client);
    EXPECT_EQ(examples.count(), data.train_samples(client));
    EXPECT_GE(examples.count(), 1u);
    trained.insert(trained.end(), examples.labels.begin(), examples.labels.end());
  }
  std::vector<int32_t> tested = data.test_set(0).labels;
  std::sort(trained.begin(), trained.end());
  std::sort(tested.begin(), tested.end());
  EXPECT_EQ(trained, (std::vector<int32_t>{1, 1, 3, 4, 5, 9}));
  EXPECT_EQ(tested, (std::vector<int32_t>{20, 21, 22, 23, 24, 25}));
  write_quickly(
      folder_ / "emnist-byclass-test-images-idx3-ubyte.gz",
      gzipped(big_endian(0x803) + big_endian(6) + big_endian(3) + big_endian(2) + std::string(36, 'a')));
  EXPECT_SAYS(complaint(), "has images of 3 x 2; those for training are 2 x 3");
}

TEST_F(IdxFiles, ATestSetWithWritersIsGroupedByThem) {
  const auto name = [&](const char* rest) { return folder_ / rest; };
  for (const char* part : {"images-idx3-ubyte", "labels-idx1-ubyte", "writers-idx1-int"}) {
    fs::copy_file(name("x-") += part, name("x-test-") += part);
    fs::rename(name("x-") += part, name("x-train-") += part);
  }
  const SplitFederation data = open_split_federation({.source = "idx", .path = path_});
  ASSERT_EQ(data.clients(), 3u);  // 2, 7 and 400
  const std::vector<uint32_t> images{2, 3, 1};
  for (uint32_t client = 0; client < 3; ++client) {
    EXPECT_EQ(data.train_samples(client), images[client]);
    EXPECT_EQ(data.test(client).count(), images[client]);
  }
  EXPECT_EQ(recognise(path_).partition, "auto");

  writers_.replace(8, 4, big_endian(9));
  write_quickly(name("x-test-writers-idx1-int"), writers_);
  EXPECT_SAYS(complaint(), "writer 9 has images for testing but none for training; set data.partition");
  fs::remove(name("x-test-writers-idx1-int"));
  EXPECT_SAYS(complaint(), "holds no file x-test*-writers-idx1-int");
  EXPECT_EQ(recognise(path_).partition, "dirichlet");
}

TEST(Femnist, HasTheCountsOfItsReadme) {
  const fs::path folder = fs::path(SUBFLEET_SOURCE_DIR) / "../shared/data/femnist";
  if (!fs::exists(folder))
    GTEST_SKIP() << "no " << folder << ": the real FEMNIST is not part of the repository";
  for (const auto& [min_samples, writers, images] :
       {std::array<uint64_t, 3>{0, 1394, 106300}, std::array<uint64_t, 3>{50, 548, 86716}}) {
    const auto data =
        open_federation({.source = "idx", .path = folder, .min_samples = static_cast<uint32_t>(min_samples)});
    uint64_t total = 0;
    for (uint32_t client = 0; client < data->clients(); ++client) total += data->samples(client);
    EXPECT_EQ(data->clients(), writers);
    EXPECT_EQ(total, images);
    EXPECT_EQ(data->classes(), 62u);
    EXPECT_EQ(data->input(), (Shape{1, 28, 28}));
    const Examples first = data->load(0);
    EXPECT_EQ(first.input(0)[0], 0) << "the corner is paper";
  }
}

}  // namespace
}  // namespace subfleet
