#include "subfleet/data.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/config.h"
#include "subfleet/error.h"
#include "threads.h"

namespace subfleet::python {
namespace {

using Pair = std::tuple<Out<float>, Out<int32_t>>;

// `read` runs without the GIL.
template <typename Read>
Pair arrays_of(const SplitFederation& data, Read&& read) {
  Examples examples;
  {
    const WithoutGil release;
    examples = read();
  }
  const Shape shape = data.all().input();
  const size_t count = examples.count();
  return {array_of(std::move(examples.inputs), {count, shape.channels, shape.height, shape.width}),
          array_of(std::move(examples.labels), {count})};
}

void check_client(const SplitFederation& data, uint32_t client) {
  if (client < data.clients()) return;
  throw bad_request("client", fmt::format("{} is not there; they are 0 to {}", client, data.clients() - 1));
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<SplitFederation>(
      m, "Data",
      "Examples by client, those for training and those for testing, as the settings "
      "data.* name them. Inputs are arrays of examples by channels, height and width.")
      .def(
          "__init__",
          [](SplitFederation* self, const Config& config) {
            const WithoutGil release;
            new (self) SplitFederation(open_split_federation(config.data));
          },
          nb::arg("config"))
      .def_prop_ro("clients", &SplitFederation::clients, "How many there are.")
      .def_prop_ro("classes", [](const SplitFederation& data) { return data.all().classes(); })
      .def_prop_ro("input",
                   [](const SplitFederation& data) {
                     const Shape shape = data.all().input();
                     return std::tuple(shape.channels, shape.height, shape.width);
                   })
      .def(
          "train",
          [](const SplitFederation& data, uint32_t client) {
            check_client(data, client);
            return arrays_of(data, [&] { return data.train(client); });
          },
          nb::arg("client"), "Inputs and labels of a client's training examples, in the data's order.")
      .def(
          "test",
          [](const SplitFederation& data, uint32_t client) {
            check_client(data, client);
            return arrays_of(data, [&] { return data.test(client); });
          },
          nb::arg("client"), "Inputs and labels of a client's test examples.")
      .def(
          "test_set",
          [](const SplitFederation& data, uint64_t limit) {
            return arrays_of(data, [&] { return data.test_set(limit); });
          },
          nb::arg("limit") = 0,
          "The test examples of every client, or of clients drawn by data.seed until there are `limit`.")
      .def(
          "class_name",
          [](const SplitFederation& data, uint32_t label) {
            if (label >= data.all().classes())
              throw bad_request("label", fmt::format("{} of {} classes", label, data.all().classes()));
            return data.all().class_name(label);
          },
          nb::arg("label"), "What the class is called, for pictures.")
      .def("__repr__", [](const SplitFederation& data) {
        return fmt::format("Data({} clients, {} classes)", data.clients(), data.all().classes());
      });
  m.def("data_source_names", &data_source_names, "What data.source can be.");
}

}  // namespace subfleet::python
