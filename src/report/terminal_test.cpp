#include "subfleet/report/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "environment.h"

namespace subfleet {
namespace {

std::string signs() { return in_locale("84.1 ± 0.3 % ✓, 7 ✗"); }

TEST(Terminal, SignsAreAsciiUnlessTheLocaleIsUtf8) {
  const std::string ascii = "84.1 +-0.3 % y, 7 n";
  {
    const Environment c(Variables{{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}});
    EXPECT_EQ(signs(), ascii);
  }
  {
    const Environment none(Variables{{"LC_ALL", ""}, {"LC_CTYPE", ""}, {"LANG", ""}});
    EXPECT_EQ(signs(), ascii);
  }
  for (const char* name : {"C.UTF-8", "en_GB.utf8"}) {
    const Environment utf8(Variables{{"LC_ALL", ""}, {"LC_CTYPE", ""}, {"LANG", name}});
    EXPECT_EQ(signs(), "84.1 ± 0.3 % ✓, 7 ✗") << name;
  }
}

TEST(Terminal, AFileShowsNeitherRedrawnLinesNorColours) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_TRUE(file);
  const Environment variables(Variables{{"LC_ALL", "C"}, {"TERM", "xterm"}, {"NO_COLOR", ""}});
  Terminal terminal = look_at_terminal(file.get());
  EXPECT_FALSE(terminal.interactive || terminal.colour || terminal.unicode);
  EXPECT_EQ(terminal.width, 80u);
  const Environment utf8(Variables{{"LC_ALL", "C.UTF-8"}});
  EXPECT_TRUE(look_at_terminal(file.get()).unicode);
}

TEST(Terminal, LinesAreNotRedrawnUnderMpirunWhichPassesThemOnToAFile) {
  const int leader = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(leader >= 0 && ::grantpt(leader) == 0 && ::unlockpt(leader) == 0);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> terminal(std::fopen(::ptsname(leader), "w"),
                                                                 std::fclose);
  ASSERT_TRUE(terminal);
  const Environment variables(Variables{{"TERM", "xterm"}});
  EXPECT_TRUE(look_at_terminal(terminal.get()).interactive);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"}) {
    const Environment rank(Variables{{name, "2"}});
    EXPECT_FALSE(look_at_terminal(terminal.get()).interactive) << name;
  }
  ::close(leader);
}

}  // namespace
}  // namespace subfleet
