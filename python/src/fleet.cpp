#include "fleet.h"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <future>
#include <tuple>

#include "bindings.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/trainer.h"
#include "threads.h"

namespace subfleet::python {

BoundLocalFleet::BoundLocalFleet(const Config& config, const std::string& device, size_t threads,
                                 const SplitFederation* arrays) {
  const std::vector<std::string> known = device_names();
  if (std::ranges::find(known, device) == known.end()) throw unknown_name("device", device, known);
  pool = std::make_unique<ThreadPool>(threads);
  // The data are read while the device wakes.
  const std::future<void> awake = std::async(std::launch::async, wake_device, device);
  fleet = std::make_unique<LocalFleet>(arrays != nullptr ? *arrays : open_split_federation(config.data),
                                       device, *pool, config.run.eval_samples);
  workers = {.device = device, .threads = static_cast<uint32_t>(pool->threads())};
  data = config.data;
  if (arrays != nullptr) data = DataOptions{.source = std::string(kArrays)};
  eval_samples = config.run.eval_samples;
}

void bind_fleet(nb::module_& m) {
  nb::class_<BoundFleet>(m, "Fleet", "Who runs the jobs of a run.")
      .def_prop_ro(
          "clients", [](const BoundFleet& self) { return self.fleet->clients(); }, "How many there are.")
      .def_prop_ro("classes", [](const BoundFleet& self) { return self.fleet->classes(); })
      .def_prop_ro("input",
                   [](const BoundFleet& self) {
                     const Shape shape = self.fleet->input();
                     return std::tuple(shape.channels, shape.height, shape.width);
                   })
      .def_prop_ro("device", [](const BoundFleet& self) { return self.workers.device; })
      .def("__repr__", [](nb::pointer_and_handle<BoundFleet> self) {
        return fmt::format("{}({} clients, {})", nb::cast<std::string>(self.h.type().attr("__name__")),
                           self.p->fleet->clients(), self.p->workers.device);
      });
  nb::class_<BoundLocalFleet, BoundFleet>(m, "LocalFleet",
                                          "Every client in this process. Several runs with the same data can "
                                          "share one, one after the other.")
      .def(
          "__init__",
          [](BoundLocalFleet* self, const Config& config, const std::string& device, size_t threads,
             const SplitFederation* data) {
            const WithoutGil release;
            new (self) BoundLocalFleet(config, device, threads, data);
          },
          nb::arg("config"), nb::arg("device") = "cpu", nb::arg("threads") = 0,
          nb::arg("data").none() = nb::none(),
          "With the data of the settings data.*, or Data.from_arrays, trained on one of device_names(). 0 "
          "threads: one per core; the result is the same for any number.");
  m.def("device_names", &trainer_names, "What can do the arithmetic here.");
}

}  // namespace subfleet::python
