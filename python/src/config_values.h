#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "subfleet/config.h"

namespace subfleet::python {

namespace nb = nanobind;

// The settings of a run, which are only read.
struct RunConfig : Config {
  explicit RunConfig(const Config& config) : Config(config) {}
};

// A Python value as the text that a user would write after `--set NAME=`; throws Error for what cannot be
// one.
std::string text_of(const std::string& name, nb::handle value);
// A setting's value, which is TOML, as Python's.
nb::object value_of(const std::string& toml);

// The draw of a round, which is counted from 1. Throws Error for round 0.
uint32_t draw_of(const Config& config, uint32_t round);

// A text of Python's in UTF-8. Throws Error for one that is none, as "\udc80".
std::string utf8_of(const std::string& what, nb::handle text);

// Sets what a dict names, by dotted names or by dicts within: {"code.family": "gold"} is {"code": {"family":
// "gold"}}. Throws Error.
void apply(Config& config, const nb::dict& values, const std::string& prefix = "");

}  // namespace subfleet::python
