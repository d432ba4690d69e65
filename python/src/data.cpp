#include "subfleet/data.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
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

// An array of any numbers as one of this type, whose values lie side by side.
template <typename T>
nb::ndarray<const T, nb::c_contig, nb::device::cpu> as_array(const std::string& whose, nb::handle values,
                                                             const char* type) {
  nb::object array;
  try {
    array = nb::module_::import_("numpy").attr("ascontiguousarray")(values, type);
  } catch (const nb::python_error& error) {
    const auto why = nb::cast<std::string>(nb::str(error.value()));
    throw bad_request(whose, fmt::format("is no array of numbers ({})", why.substr(0, why.find('\n'))));
  }
  return nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(array);
}

struct Pairs {
  std::optional<Shape> input;  // of the first
  int32_t largest = 0;         // label
};

// (x, y): as many inputs as labels. All have the shape of the first.
Examples examples_of(Pairs& pairs, const std::string& whose, nb::handle pair) {
  if (!nb::isinstance<nb::sequence>(pair) || nb::len(pair) != 2)
    throw bad_request(whose, "must be a pair of arrays: inputs and labels");
  const auto x = as_array<float>(whose + ": x", pair[0], "float32");
  const auto y = as_array<int32_t>(whose + ": y", pair[1], "int32");
  if (x.ndim() < 1 || x.ndim() > 4 || y.ndim() != 1 || x.shape(0) != y.shape(0)) {
    throw bad_request(whose,
                      "inputs must be examples by up to three axes (channels, height, width), and "
                      "labels one number for each");
  }
  const auto side = [&](size_t axis) { return axis < x.ndim() ? x.shape(axis) : 1; };
  const Shape shape{.channels = side(1), .height = side(2), .width = side(3)};
  if (!pairs.input) pairs.input = shape;
  if (!(shape == *pairs.input)) {
    throw bad_request(whose, fmt::format("examples of {} x {} x {}; the first client's are {} x {} x {}",
                                         shape.channels, shape.height, shape.width, pairs.input->channels,
                                         pairs.input->height, pairs.input->width));
  }
  Examples examples{.features = shape.size(), .inputs = {}, .labels = {}};
  examples.inputs.assign(x.data(), x.data() + x.size());
  examples.labels.assign(y.data(), y.data() + y.size());
  for (const int32_t label : examples.labels) pairs.largest = std::max(pairs.largest, label);
  return examples;
}

SplitFederation from_arrays(const nb::iterable& clients, nb::handle test, uint32_t classes,
                            double test_fraction, uint64_t seed) {
  Pairs pairs;
  std::vector<Examples> all;
  for (const nb::handle pair : clients)
    all.push_back(examples_of(pairs, fmt::format("clients[{}]", all.size()), pair));
  std::optional<Examples> tested;
  if (!test.is_none()) tested = examples_of(pairs, "test", test);
  if (classes == 0) classes = static_cast<uint32_t>(std::max(pairs.largest, 1)) + 1;
  const WithoutGil release;
  return {make_array_federation(pairs.input.value_or(Shape()), classes, std::move(all), std::move(tested)),
          seed, test_fraction};
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
      .def_static(
          "from_arrays", &from_arrays, nb::arg("clients"), nb::arg("test").none() = nb::none(),
          nb::arg("classes") = 0, nb::arg("test_fraction") = 0.1, nb::arg("seed") = 0,
          "Your own examples: for each client a pair of arrays (x, y), inputs of up to three axes each "
          "and whole numbers as labels, and a pair to test with. Without `test`, a part of each "
          "client's examples is for testing. 0 classes: as many as the labels say.")
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
