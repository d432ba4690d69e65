#include <string>

#include "bindings.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/run.h"

namespace subfleet::python {
namespace {

// Borrowed from the module, which holds them for as long as there is a Python.
struct Exceptions {
  PyObject* failure;
  PyObject* request;
  PyObject* diverged;
};

PyObject* add_exception(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
  if (!type.is_valid()) throw nb::python_error();
  m.attr(name) = type;
  return type.ptr();
}

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& types = *static_cast<const Exceptions*>(payload);
  try {
    std::rethrow_exception(thrown);
  } catch (const Diverged& error) {
    PyErr_SetString(types.diverged, one_line(error.what()).c_str());
  } catch (const Error& error) {
    const bool request = error.kind() == Error::Kind::kRequest;
    PyErr_SetString(request ? types.request : types.failure, one_line(error.what()).c_str());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  auto* types = new Exceptions{};  // never freed: exceptions may be thrown until the process ends
  types->failure =
      add_exception(m, "Error", "What went wrong, in the one line that the program `subfleet` would print.",
                    PyExc_RuntimeError);
  types->request = add_exception(m, "RequestError",
                                 "What was asked for is wrong: a setting, an argument, a malformed file. The "
                                 "line says what would be right.",
                                 nb::make_tuple(nb::handle(types->failure), nb::handle(PyExc_ValueError)));
  types->diverged =
      add_exception(m, "Diverged", "Nothing more can be learnt: the weights or all updates are not finite.",
                    nb::handle(types->failure));
  nb::register_exception_translator(translate, types);
}

}  // namespace subfleet::python
