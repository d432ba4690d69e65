#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <tuple>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/config.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/fleet/remote/node_data.h"
#include "threads.h"

namespace subfleet::python {
namespace {

// What a node needs to do jobs. Jobs run one at a time, whichever threads bring them.
struct BoundNode {
  BoundNode(const Config& config, const std::optional<std::pair<uint32_t, uint32_t>>& clients,
            const std::string& device)
      : data(open_split_federation(config.data),
             clients ? std::optional(ClientRange{clients->first, clients->second}) : std::nullopt),
        runner(data, device) {}

  std::vector<std::byte> run(std::vector<std::byte> job) {
    const std::lock_guard lock(busy);
    return runner.run(std::move(job)).update;
  }

  NodeData data;
  JobRunner runner;
  std::mutex busy;
};

}  // namespace

void bind_node(nb::module_& m) {
  nb::class_<BoundNode>(m, "JobRunner",
                        "Runs jobs that arrive as messages, with Subfleet's own trainer and the bits that a "
                        "LocalFleet gives them.")
      .def(
          "__init__",
          [](BoundNode* self, const Config& config,
             const std::optional<std::pair<uint32_t, uint32_t>>& clients, const std::string& device) {
            const WithoutGil release;
            new (self) BoundNode(config, clients, device);
          },
          nb::arg("config"), nb::arg("clients").none() = nb::none(), nb::arg("device") = "cpu",
          "With the data of the settings data.*. `clients`: the first and the last of those that are here; "
          "None: the data are one client's, and any number will do.")
      .def_prop_ro("clients", [](const BoundNode& self) { return self.data.clients(); })
      .def_prop_ro(
          "examples", [](const BoundNode& self) { return self.data.examples(); },
          "For training, of each client.")
      .def_prop_ro("classes", [](const BoundNode& self) { return self.data.classes(); })
      .def_prop_ro("input",
                   [](const BoundNode& self) {
                     const Shape shape = self.data.input();
                     return std::tuple(shape.channels, shape.height, shape.width);
                   })
      .def(
          "run",
          [](BoundNode& self, const nb::bytes& job) {
            const std::span<const std::byte> bytes = span_of(job);
            std::vector<std::byte> message(bytes.begin(), bytes.end()), update;
            {
              const WithoutGil release;
              update = self.run(std::move(message));
            }
            return bytes_of(update);
          },
          nb::arg("job"), "The encoded UpdateMessage for an encoded JobMessage. Raises Error.")
      .def("__repr__", [](const BoundNode& self) {
        return fmt::format("JobRunner({} clients)", self.data.clients().size());
      });
}

}  // namespace subfleet::python
