#include "subfleet/codec.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/error.h"
#include "threads.h"

namespace subfleet::python {
namespace {

// A codec is an object of the library's own table, which outlives Python; this is its name in Python.
struct NamedCodec {
  const Codec* codec;
};

// Both ends derive the same key.
RandomKey key_of(uint64_t seed, uint32_t draw, uint32_t client, const std::string& direction) {
  if (direction != "down" && direction != "up") {
    throw bad_request("direction", "must be \"down\", weights to a client, or \"up\", its update back");
  }
  return {.seed = seed,
          .round = draw,
          .client = client,
          .purpose = direction == "down" ? Purpose::kWireDown : Purpose::kWireUp};
}

nb::bytes encode(const NamedCodec& self, const In<float>& values, uint64_t seed, uint32_t draw,
                 uint32_t client, const std::string& direction) {
  const RandomKey key = key_of(seed, draw, client, direction);
  std::vector<std::byte> message;
  {
    const WithoutGil release;
    self.codec->encode(span_of(values), key, message);
  }
  return bytes_of(message);
}

Out<float> decode(const NamedCodec& self, const nb::bytes& message, size_t values, uint64_t seed,
                  uint32_t draw, uint32_t client, const std::string& direction) {
  const RandomKey key = key_of(seed, draw, client, direction);
  std::vector<float> decoded;
  {
    const WithoutGil release;
    if (self.codec->encoded_size(values) != message.size())  // before the memory is taken
      throw bad_request(self.codec->name(), "the message does not hold that many values");
    decoded.resize(values);
    self.codec->decode(span_of(message), key, decoded);
  }
  return array_of(std::move(decoded));
}

Out<float> transmit(const NamedCodec& self, const In<float>& values, uint64_t seed, uint32_t draw,
                    uint32_t client, const std::string& direction) {
  const RandomKey key = key_of(seed, draw, client, direction);
  std::vector<float> arrived(values.size());
  {
    const WithoutGil release;
    std::ranges::copy(span_of(values), arrived.begin());
    self.codec->transmit(arrived, key);
  }
  return array_of(std::move(arrived));
}

}  // namespace

void bind_codec(nb::module_& m) {
  nb::class_<NamedCodec>(m, "Codec",
                         "How a list of numbers travels. What arrives depends on the numbers and on (seed, "
                         "draw, client, direction) alone: both ends know these, so nothing random travels.")
      .def(
          "__init__",
          [](NamedCodec* self, const std::string& name) { new (self) NamedCodec{&find_codec(name)}; },
          nb::arg("name"), "One of codec_names().")
      .def_prop_ro("name", [](const NamedCodec& self) { return std::string(self.codec->name()); })
      .def_prop_ro(
          "lossless", [](const NamedCodec& self) { return self.codec->lossless(); },
          "What arrives is what was sent, bit for bit.")
      .def(
          "encoded_size",
          [](const NamedCodec& self, size_t values) { return self.codec->encoded_size(values); },
          nb::arg("values"), "How many bytes that many values take, whatever they are.")
      .def("encode", &encode, nb::arg("values"), nb::arg("seed") = 0, nb::arg("draw") = 0,
           nb::arg("client") = 0, nb::arg("direction") = "up",
           "The values as they travel, encoded_size(len(values)) bytes. `direction` is \"down\" for weights "
           "on "
           "their way to a client and \"up\" for its update.")
      .def("decode", &decode, nb::arg("message"), nb::arg("values"), nb::arg("seed") = 0, nb::arg("draw") = 0,
           nb::arg("client") = 0, nb::arg("direction") = "up",
           "So many values out of a message. Raises Error for one that is malformed.")
      .def("transmit", &transmit, nb::arg("values"), nb::arg("seed") = 0, nb::arg("draw") = 0,
           nb::arg("client") = 0, nb::arg("direction") = "up",
           "What would arrive: decode(encode(values)), bit for bit, without the message.")
      .def("__repr__",
           [](const NamedCodec& self) { return "Codec(" + std::string(self.codec->name()) + ")"; });
  m.def("codec_names", &codec_names, "How weights and updates can travel: `wire.down`, `wire.up`.");
}

}  // namespace subfleet::python
