#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "subfleet/config.h"

namespace subfleet::python {

namespace nb = nanobind;

// A Python value as the text that a user would write after `--set NAME=`; throws Error for what cannot be
// one.
std::string text_of(const std::string& name, nb::handle value);
// A setting's value, which is TOML, as Python's.
nb::object value_of(const std::string& toml);

// Sets what a dict names, by dotted names or by dicts within: {"code.family": "gold"} is {"code": {"family":
// "gold"}}. Throws Error.
void apply(Config& config, const nb::dict& values, const std::string& prefix = "");

}  // namespace subfleet::python
