#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "data/complaint_testing.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPixels = 3072;

// Unlike base/file.h's, without waiting for the disk.
void write_quickly(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// The value of a byte of image i.
uint8_t pixel(size_t i, size_t at) { return static_cast<uint8_t>(31 * i + at + at / 1024); }

// CIFAR-10's six files with two images each; image i has the label (7 * i) % 10.
class CifarFiles : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t file = 0; file < kFiles.size(); ++file) {
      write_quickly(folder_ / kFiles[file], record(2 * file) + record(2 * file + 1));
    }
  }

  static std::string record(size_t i) {
    std::string bytes(1, static_cast<char>((7 * i) % 10));
    for (size_t at = 0; at < kPixels; ++at) bytes.push_back(static_cast<char>(pixel(i, at)));
    return bytes;
  }

  std::unique_ptr<Federation> open() const { return open_federation(options_); }

  std::string complaint() const { return complaint_about(options_); }

  const std::array<std::string, 6> kFiles{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                          "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
  TemporaryFolder folder_;
  DataOptions options_{.source = "cifar", .path = folder_.path(), .clients = 5};
};

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST_F(CifarFiles, EveryImageOfEveryFileBelongsToOneClient) {
  const auto data = open();
  ASSERT_EQ(data->clients(), 5u);
  EXPECT_EQ(data->input(), (Shape{3, 32, 32}));
  EXPECT_EQ(data->classes(), 10u);
  EXPECT_EQ(data->class_name(0), "airplane");
  EXPECT_EQ(data->class_name(9), "truck");
  std::set<size_t> seen;
  for (uint32_t client = 0; client < 5; ++client) {
    const Examples examples = data->load(client);
    EXPECT_EQ(examples.count(), data->samples(client));
    EXPECT_GE(examples.count(), 2u);
    for (size_t example = 0; example < examples.count(); ++example) {
      size_t i = 0;  // which image it is, by its first byte
      while (i < 12 && examples.input(example)[0] != static_cast<float>(pixel(i, 0)) / 255.0f) ++i;
      ASSERT_LT(i, 12u);
      seen.insert(i);
      EXPECT_EQ(examples.labels[example], static_cast<int32_t>((7 * i) % 10));
      for (size_t at = 0; at < kPixels; ++at) {
        ASSERT_EQ(examples.input(example)[at], static_cast<float>(pixel(i, at)) / 255.0f);
      }
    }
  }
  EXPECT_EQ(seen.size(), 12u);
}

TEST_F(CifarFiles, TheTestBatchIsTheTestSet) {
  const SplitFederation split(open(), 0, 0.5);
  std::vector<int32_t> tests;
  size_t training = 0;
  for (uint32_t client = 0; client < split.clients(); ++client) {
    training += split.train_samples(client);
    EXPECT_EQ(split.train(client).count(), split.train_samples(client));
    const Examples test = split.test(client);
    tests.insert(tests.end(), test.labels.begin(), test.labels.end());
  }
  EXPECT_EQ(training, 10u);
  EXPECT_EQ(tests, (std::vector<int32_t>{70 % 10, 77 % 10}));  // images 10 and 11
}

TEST_F(CifarFiles, WhoGetsWhatDependsOnTheSeed) {
  const auto labels = [&] {
    std::vector<std::vector<int32_t>> all;
    const auto data = open();
    for (uint32_t client = 0; client < data->clients(); ++client) all.push_back(data->load(client).labels);
    return all;
  };
  const auto first = labels();
  EXPECT_EQ(labels(), first);
  options_.seed = 1;
  EXPECT_NE(labels(), first);
}

TEST_F(CifarFiles, MinSamplesLeavesClientsOut) {
  options_.min_samples =
      3;  // 10 images for training and 2 for testing: two clients have three, three have two
  EXPECT_EQ(open()->clients(), 2u);
  options_.min_samples = 4;
  EXPECT_SAYS(complaint(), "none of the 5 clients has 4 images; the most is 3");
}

TEST_F(CifarFiles, ClientsAndDirichletMustMakeSense) {
  for (const uint32_t clients : {0u, 11u}) {
    options_.clients = clients;
    EXPECT_SAYS(complaint(), "cannot share 10 images; 1 to 10 can");
  }
  options_.clients = 10;
  EXPECT_EQ(open()->clients(), 10u);
  for (const double alpha : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN()}) {
    options_.dirichlet = alpha;
    EXPECT_SAYS(complaint(), "data.dirichlet: ");
  }
}

TEST_F(CifarFiles, ReadsTheFineLabelsOfCifar100) {
  for (const std::string& name : kFiles) fs::remove(folder_ / name);
  for (const auto& [name, fine] : {std::pair{"train.bin", 99}, std::pair{"test.bin", 42}}) {
    write_quickly(folder_ / name, std::string{19, static_cast<char>(fine)} + std::string(kPixels, '\x7f'));
  }
  options_.clients = 1;
  const auto data = open();
  EXPECT_EQ(data->classes(), 100u);
  EXPECT_EQ(data->load(0).labels, (std::vector<int32_t>{99, 42}));
  EXPECT_EQ(data->load(0).input(1)[3071], 127.0f / 255.0f);
  EXPECT_EQ(data->class_name(99), "99");

  write_quickly(folder_ / "train.bin", std::string{19, 100} + std::string(kPixels, 'x'));
  EXPECT_SAYS(complaint(), "gives image 0 the label 100; those of CIFAR-100 are below 100");
}

TEST_F(CifarFiles, SaysWhatIsMissingOrTooMuch) {
  write_quickly(folder_ / "train.bin", "");
  EXPECT_SAYS(complaint(), "holds both data_batch_1.bin and train.bin");
  fs::remove(folder_ / "train.bin");
  fs::remove(folder_ / "data_batch_3.bin");
  EXPECT_SAYS(complaint(), "data_batch_3.bin: is not a file that can be read; CIFAR-10 has 6 files");
  fs::create_directory(folder_ / "data_batch_3.bin");
  EXPECT_SAYS(complaint(), "data_batch_3.bin: is not a file that can be read");
  fs::remove(folder_ / "data_batch_1.bin");
  EXPECT_SAYS(complaint(), "holds neither data_batch_1.bin (CIFAR-10) nor train.bin (CIFAR-100)");
  options_.path /= "nowhere";
  EXPECT_SAYS(complaint(), "nowhere: holds neither");
  options_.path.clear();
  EXPECT_SAYS(complaint(), "data.path: is not set");
}

TEST_F(CifarFiles, SizesThatAreNotWholeRecordsAreRefused) {
  const std::string two = record(0) + record(1);
  for (const size_t length : {size_t{0}, size_t{1}, size_t{3072}, size_t{3074}, size_t{6145}}) {
    write_quickly(folder_ / "data_batch_2.bin", two.substr(0, length));
    EXPECT_SAYS(complaint(),
                "data_batch_2.bin: has " + std::to_string(length) + " bytes; a file of CIFAR-10");
  }
  write_quickly(folder_ / "data_batch_2.bin", two + "x");
  EXPECT_SAYS(complaint(), "records of 3073");
  write_quickly(folder_ / "data_batch_2.bin", two.substr(0, 3073));  // a whole record is a whole file
  EXPECT_EQ(open()->clients(), 5u);
}

TEST_F(CifarFiles, EveryByteThatIsNoLabelIsRefusedInItsPlaceAndReadElsewhere) {
  const std::string two = record(0) + record(1);
  for (int byte = 0; byte < 256; ++byte) {
    std::string changed = two;
    changed[3073] = static_cast<char>(byte);
    write_quickly(folder_ / "test_batch.bin", changed);
    if (byte < 10) {
      EXPECT_EQ(open()->clients(), 5u);
    } else {
      EXPECT_SAYS(complaint(), "test_batch.bin: gives image 1 the label " + std::to_string(byte));
    }
  }
  std::string changed = two;
  changed[1] = '\xff';
  write_quickly(folder_ / "test_batch.bin", changed);
  EXPECT_EQ(open()->clients(), 5u);
}

}  // namespace
}  // namespace subfleet
