#pragma once

#include <cstdint>

namespace subfleet {

// The largest resident set of this process so far, in bytes (VmHWM); 0 where the system does not tell.
uint64_t peak_memory();

}  // namespace subfleet
