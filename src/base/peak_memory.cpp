#include "subfleet/base/peak_memory.h"

#include <string>
#include <string_view>

#include "subfleet/base/file.h"

namespace subfleet {

uint64_t peak_memory() {
  constexpr std::string_view kKey = "VmHWM:";
  const std::string status = read_file("/proc/self/status");
  const size_t at = status.find(kKey);
  return at == std::string::npos ? 0 : std::stoull(status.substr(at + kKey.size())) * 1024;
}

}  // namespace subfleet
