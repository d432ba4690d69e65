#include "base/version.h"

namespace subfleet {

std::string_view version() { return SUBFLEET_VERSION; }

}  // namespace subfleet
