#pragma once

#include <nanobind/nanobind.h>

// One function per topic, each in the file of its name; module.cpp calls them in this order, so that a type
// is known before a signature mentions it.
namespace subfleet::python {

namespace nb = nanobind;

// Python's own for ==; with nb::is_operator() a value of another type is simply not equal.
inline const nb::sig kEqualSignature("def __eq__(self, other: object, /) -> bool");

void bind_threads(nb::module_& m);
void bind_errors(nb::module_& m);
void bind_codes(nb::module_& m);
void bind_model(nb::module_& m);
void bind_config(nb::module_& m);
void bind_submodel(nb::module_& m);
void bind_partial_sum(nb::module_& m);
void bind_optimizer(nb::module_& m);
void bind_codec(nb::module_& m);
void bind_messages(nb::module_& m);
void bind_data(nb::module_& m);
void bind_fleet(nb::module_& m);
void bind_program(nb::module_& m);
void bind_run(nb::module_& m);
void bind_remote(nb::module_& m);
void bind_node(nb::module_& m);
void bind_search(nb::module_& m);
void bind_plugins(nb::module_& m);
void bind_work(nb::module_& m);
void bind_folder(nb::module_& m);
void bind_states(nb::module_& m);       // of all that is pickled and copied
void shorten_refusals(nb::module_& m);  // what a function does not take; the last

}  // namespace subfleet::python
