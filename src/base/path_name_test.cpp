#include "subfleet/base/path_name.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(PathName, PlainPathsStayAsTheyAre) {
  for (const char* path : {"a/b.txt", "with space", "a'b", "back\\nslash", "\xC3\xA9t\xC3\xA9", ""})
    EXPECT_EQ(path_name(path), path);
}

TEST(PathName, OthersAreWrittenAsAShellTakesThem) {
  EXPECT_EQ(path_name("new\nline"), "$'new\\nline'");
  EXPECT_EQ(path_name("by\xFFte"), "$'by\\xFFte'");
  EXPECT_EQ(path_name("\x1B[31m'\\n\n"), "$'\\x1B[31m\\'\\\\n\\n'");
  EXPECT_NE(path_name("a\nb"), path_name("a?b"));
}

}  // namespace
}  // namespace subfleet
