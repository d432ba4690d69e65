#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

// numpy arrays in and out. Input is used in place if it has the right type and is contiguous, and is
// converted otherwise. Output is either the result itself, handed over, or a view that keeps its owner alive.
namespace subfleet::python {

namespace nb = nanobind;

template <typename T, size_t Dimensions = 1>
using In = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
// Written in place; never converted (nb::arg().noconvert()).
template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

template <typename T, typename... Rest>
std::span<T> span_of(const nb::ndarray<T, Rest...>& array) {
  return {array.data(), array.size()};
}

// Hands a result over to an array; without a shape it is flat.
template <typename T>
Out<T> array_of(std::vector<T> values, std::initializer_list<size_t> shape = {}) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.size() == 0) return Out<T>(kept->data(), {kept->size()}, owner);
  return Out<T>(kept->data(), shape, owner);
}

// A view of the values; the array keeps `owner` alive.
template <typename T>
Out<T> view_of(std::span<T> values, nb::handle owner) {
  return Out<T>(values.data(), {values.size()}, owner);
}

inline nb::bytes bytes_of(std::span<const std::byte> bytes) { return nb::bytes(bytes.data(), bytes.size()); }
inline std::span<const std::byte> span_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

// Throws Error unless the array has `wanted` values.
void check_size(std::string_view what, size_t found, size_t wanted);

}  // namespace subfleet::python
