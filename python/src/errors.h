#pragma once

#include <string>

namespace subfleet::python {

// Python's exception for what was asked for wrongly, with this line.
void set_request_error(const std::string& line);

}  // namespace subfleet::python
