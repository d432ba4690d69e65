#include "subfleet/partial_sum.h"

#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"

namespace subfleet::python {
namespace {

Out<double> mean(const PartialSum& sum) {
  std::vector<double> means(sum.size());
  for (size_t i = 0; i < means.size(); ++i) means[i] = sum.mean(i);
  return array_of(std::move(means));
}

}  // namespace

// Several threads may add to one sum: the GIL, which is kept, is its lock.
void bind_partial_sum(nb::module_& m) {
  nb::class_<PartialSum>(
      m, "PartialSum",
      "Per weight of the whole model: the sum of the clients' updates, each times its examples, and the "
      "examples of those who held the weight. Updates are rounded once to multiples of 2^-36 and added as "
      "integers, so the sum is exact and does not depend on the order.")
      .def(nb::init<size_t>(), nb::arg("weights"), "An empty sum for a model with that many weights.")
      .def(
          "add",
          [](PartialSum& sum, const SubModel& held, const In<float>& update, uint32_t examples) {
            return sum.add(held, span_of(update), examples) && examples > 0;
          },
          nb::arg("held"), nb::arg("update"), nb::arg("examples"),
          "Adds one client's update of the weights that it held, from any thread. False, and nothing is "
          "added, "
          "if a value is not finite or not below 64 (the client diverged), or without examples.")
      .def(
          "add_difference",
          [](PartialSum& sum, const SubModel& held, const In<float>& whole, const In<float>& trained,
             uint32_t examples) {
            return sum.add_difference(held, span_of(whole), span_of(trained), examples) && examples > 0;
          },
          nb::arg("held"), nb::arg("whole"), nb::arg("trained"), nb::arg("examples"),
          "The same for the float32 difference of a client's trained weights and those of the whole model "
          "that "
          "it was given.")
      .def("add_holder", &PartialSum::add_holder, nb::arg("held"), nb::arg("examples"),
           "Counts a client among the holders of its weights, without an update.")
      .def("merge", &PartialSum::merge, nb::arg("other"),
           "Adds another sum: of another thread, machine or part of the clients.")
      .def("clear", &PartialSum::clear, "Forgets all that was added.")
      .def("mean", &mean, "Each weight's mean update over those who held it; 0 where nobody did.")
      .def_prop_ro(
          "sums", [](nb::pointer_and_handle<PartialSum> self) { return view_of(self.p->sums(), self.h); },
          "The sums in units of 2^-36: an int64 view that can be written to.")
      .def_prop_ro(
          "holders",
          [](nb::pointer_and_handle<PartialSum> self) { return view_of(self.p->holders(), self.h); },
          "The examples of those who held each weight: a uint32 view that can be written to.")
      .def_prop_rw("examples", &PartialSum::examples, &PartialSum::set_examples,
                   "Of all clients that were added.")
      .def("__len__", &PartialSum::size)
      .def(
          "__eq__", [](const PartialSum& a, const PartialSum& b) { return a == b; }, nb::is_operator(),
          kEqualSignature)
      .def("__repr__", [](const PartialSum& sum) {
        return fmt::format("PartialSum({} weights, {} examples)", sum.size(), sum.examples());
      });
}

}  // namespace subfleet::python
