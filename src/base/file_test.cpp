#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

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

}  // namespace
}  // namespace subfleet
