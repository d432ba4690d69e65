#include "subfleet/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

TEST(File, WriteReplacesTheContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder / "a", "one");
  write_file(folder / "a", "two");
  EXPECT_EQ(read_file(folder / "a"), "two");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(File, OnlyItsOwnHalfWrittenFilesAreRemoved) {
  const TemporaryFolder folder;
  for (const char* name : {"a.json.tmp12", "b.toml.tmp7", "a.json", "a.json.tmpl", "c.json.tmp12", "a.json2"})
    write_file(folder / name, "");
  constexpr std::array<std::string_view, 2> kMine{"a.json", "b.toml"};
  remove_half_written(folder.path(), kMine);
  EXPECT_EQ(files_in(folder), 4);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.json.tmp12"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.toml.tmp7"));
}

TEST(File, AFailedWriteNamesTheFileAndLeavesNothing) {
  const TemporaryFolder folder;
  make_folder(folder / "target");  // a folder cannot be replaced by a file
  make_folder(folder / "target" / "inside");
  try {
    write_file(folder / "target", "text");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kFailure);
    EXPECT_NE(std::string(error.what()).find("target: cannot be written"), std::string::npos);
  }
  EXPECT_EQ(files_in(folder), 1);
}

TEST(File, ALinkIsFollowedAndAnythingButAPlainFileIsLeftAlone) {
  const TemporaryFolder folder;
  write_file(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real"), "new");

  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file(folder / "pipe", "text"), Error);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

TEST(File, ReadingWhatIsNotThereIsABadRequest) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_file(folder / "nothing"), Error);
  EXPECT_THROW(read_file(folder.path()), Error);
}

std::string complaint_of_reading(const std::filesystem::path& path, bool pipe_too = false) {
  try {
    pipe_too ? read_file_or_pipe(path, 100) : read_file(path, 100);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(File, OnlyPlainFilesAreRead) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  for (const char* name : {"pipe", "zero"}) {
    EXPECT_NE(complaint_of_reading(folder / name).find("is not a plain file"), std::string::npos) << name;
  }
  EXPECT_NE(complaint_of_reading(folder / "zero", true).find("is not a plain file"), std::string::npos);
  EXPECT_NE(complaint_of_reading(folder / "pipe", true).find("nobody writes to"), std::string::npos);
}

TEST(File, APipeIsReadWhereItMayBeOne) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  std::thread writer([&] {
    for (const std::string_view part : {"one", "two"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(::write(ends[1], part.data(), part.size()), 3);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(read_file_or_pipe(path, 100), "onetwo");
  writer.join();
  ::close(ends[0]);
}

TEST(File, NoMoreIsReadThanMayBe) {
  const TemporaryFolder folder;
  write_file(folder / "hundred", std::string(100, 'x'));
  EXPECT_EQ(complaint_of_reading(folder / "hundred"), "none");
  write_file(folder / "more", std::string(101, 'x'));
  EXPECT_NE(complaint_of_reading(folder / "more").find("is longer than 100 bytes"), std::string::npos);
  EXPECT_NE(complaint_of_reading("/proc/self/maps").find("is longer than 100 bytes"), std::string::npos)
      << "whatever it says its size is";
}

}  // namespace
}  // namespace subfleet
