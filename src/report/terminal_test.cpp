#include "subfleet/report/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace subfleet {
namespace {

using Variables = std::map<std::string, std::string>;

// Sets variables of the environment, and puts back what they were.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      const char* const old = std::getenv(name.c_str());
      before_[name] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

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

}  // namespace
}  // namespace subfleet
