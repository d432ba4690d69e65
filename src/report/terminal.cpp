#include "subfleet/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "subfleet/base/mpirun.h"

namespace subfleet {
namespace {

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first one that is set decides
    const auto value = setting(name);
    if (value.empty()) continue;
    for (const std::string_view spelling : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(spelling) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

}  // namespace

std::string in_locale(std::string text) {
  if (locale_is_utf8()) return text;
  for (const auto& [sign, ascii] : {std::pair(" ± ", " +-"), std::pair("✓", "y"), std::pair("✗", "n")}) {
    for (size_t at = 0; (at = text.find(sign, at)) != std::string::npos;)
      text.replace(at, std::strlen(sign), ascii);
  }
  return text;
}

size_t terminal_width(std::FILE* out) {
  constexpr size_t kUnknown = 80, kLeast = 20;
  winsize size{};
  if (::ioctl(::fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUnknown;
  return std::max<size_t>(size.ws_col, kLeast);
}

Terminal look_at_terminal(std::FILE* out) {
  // mpirun gives rank 0 a terminal of its own and passes on what is drawn there, to a file, too.
  const bool interactive = !started_by_mpirun() && ::isatty(::fileno(out)) == 1 &&
                           setting("TERM") != "dumb" && !setting("TERM").empty();
  return {.interactive = interactive,
          .unicode = locale_is_utf8(),
          .colour = interactive && setting("NO_COLOR").empty(),
          .width = terminal_width(out)};
}

}  // namespace subfleet
