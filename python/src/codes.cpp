#include "subfleet/codes.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/codes/quality.h"
#include "subfleet/error.h"
#include "threads.h"

namespace subfleet::python {
namespace {

Out<bool> code_book(const std::string& family, const BookRequest& request) {
  std::vector<unsigned char> bits;
  {
    const WithoutGil release;
    const CodeBook book = code_family(family).draw(request);
    bits.reserve(book.rows() * book.length());
    for (size_t row = 0; row < book.rows(); ++row) {
      for (size_t column = 0; column < book.length(); ++column) bits.push_back(book.bit(row, column) ? 1 : 0);
    }
  }
  auto* kept = new std::vector<unsigned char>(std::move(bits));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<unsigned char>*>(p); });
  return Out<bool>(kept->data(), {request.rows, request.length}, owner);
}

BookQuality quality(const In<bool, 2>& bits, bool shifts) {
  if (bits.shape(0) == 0 || bits.shape(1) == 0) {
    throw bad_request("book", fmt::format("has {} rows of {} units; at least one of each is needed",
                                          bits.shape(0), bits.shape(1)));
  }
  const WithoutGil release;
  CodeBook book(bits.shape(0), bits.shape(1));
  for (size_t row = 0; row < book.rows(); ++row) {
    for (size_t column = 0; column < book.length(); ++column)
      book.set_bit(row, column, bits.data()[row * book.length() + column]);
  }
  return measure(book, shifts ? Shifts::kAll : Shifts::kNone);
}

void bind_quality(nb::module_& m) {
  nb::class_<BookQuality>(
      m, "BookQuality",
      "How good a code book is. Correlations are those of words of +1 and -1, not divided "
      "by the length, in absolute value; they, distances and overlaps are over pairs of "
      "different rows, and None for a single row.")
      .def_ro("rows", &BookQuality::rows)
      .def_ro("length", &BookQuality::length)
      .def_ro("distinct_words", &BookQuality::distinct_words)
      .def_ro("least_weight", &BookQuality::least_weight, "The fewest units that a row keeps.")
      .def_ro("largest_weight", &BookQuality::largest_weight)
      .def_ro("correlation", &BookQuality::correlation, "The largest, at shift 0: what masks feel.")
      .def_ro("shifted_correlation", &BookQuality::shifted_correlation, "The largest, over all shifts.")
      .def_ro("least_distance", &BookQuality::least_distance)
      .def_ro("mean_distance", &BookQuality::mean_distance)
      .def_ro("distance_bound", &BookQuality::distance_bound,
              "No book of as many words of that weight has a larger least distance.")
      .def_ro("largest_overlap", &BookQuality::largest_overlap, "Units that both rows of a pair keep.")
      .def_ro("mean_overlap", &BookQuality::mean_overlap)
      .def_ro("least_coverage", &BookQuality::least_coverage, "How many rows keep the unit that fewest keep.")
      .def_ro("largest_coverage", &BookQuality::largest_coverage)
      .def_ro("mean_coverage", &BookQuality::mean_coverage)
      .def_ro("uncovered_units", &BookQuality::uncovered_units, "Units that no row keeps.")
      .def("__repr__", [](const BookQuality& q) {
        const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : "None"; };
        return fmt::format(
            "BookQuality(rows={}, length={}, weights={}..{}, least_distance={}, correlation={}, "
            "coverage={}..{})",
            q.rows, q.length, q.least_weight, q.largest_weight, number(q.least_distance),
            number(q.correlation), q.least_coverage, q.largest_coverage);
      });
}

}  // namespace

void bind_codes(nb::module_& m) {
  bind_quality(m);
  m.def(
      "code_book",
      [](const std::string& family, size_t rows, size_t length, double keep, uint64_t seed, uint32_t round,
         uint32_t layer) {
        return code_book(
            family,
            {.length = length, .rows = rows, .keep = keep, .seed = seed, .round = round, .layer = layer});
      },
      nb::arg("family"), nb::arg("rows"), nb::arg("length"), nb::arg("keep") = 0.5, nb::arg("seed") = 0,
      nb::arg("round") = 0, nb::arg("layer") = 0,
      "The masks of one layer for one round: an array of `rows` by `length`, True where the client of that "
      "row "
      "keeps the unit. The same arguments give the same bits.");
  m.def("code_quality", &quality, nb::arg("book"), nb::arg("shifts") = true,
        "Weights, distances, correlations, overlaps and coverage of a book. The correlation over all shifts "
        "takes longest; `shifts=False` leaves it out.");
  m.def(
      "code_weight",
      [](const std::string& family, size_t length, double keep) {
        return code_family(family).weight(length, keep);
      },
      nb::arg("family"), nb::arg("length"), nb::arg("keep") = 0.5,
      "How many units every word of the family keeps. Raises Error, naming what can be met, if it cannot "
      "be.");
  m.def(
      "code_families",
      [] {
        nb::typed<nb::dict, std::string, std::string> all;
        for (const CodeFamily* family : code_families()) {
          all[nb::str(family->name().data(), family->name().size())] =
              nb::str(family->summary().data(), family->summary().size());
        }
        return all;
      },
      "Every code family and what it is, in one line each.");
}

}  // namespace subfleet::python
