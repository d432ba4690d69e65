#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "subfleet/base/version.h"

NB_MODULE(_core, m) {
  using namespace subfleet::python;
  nb::set_leak_warnings(false);  // a transport in Python may outlive the module that it came from
  m.doc() = "The words of Subfleet's C++ API. Import `subfleet`, which has all of them.";
  m.def(
      "version", [] { return std::string(subfleet::version()); }, "The version of this build.");
  bind_threads(m);
  bind_errors(m);
  bind_codes(m);
  bind_model(m);
  bind_config(m);
  bind_submodel(m);
  bind_partial_sum(m);
  bind_optimizer(m);
  bind_codec(m);
  bind_messages(m);
  bind_data(m);
  bind_fleet(m);
  bind_program(m);
  bind_run(m);
  bind_remote(m);
  bind_node(m);
  bind_search(m);
  bind_plugins(m);
  bind_work(m);
  bind_folder(m);
  bind_states(m);
  shorten_refusals(m);
}
