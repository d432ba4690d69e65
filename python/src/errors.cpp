#include "errors.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <filesystem>
#include <new>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

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
Exceptions exceptions{};

PyObject* add_exception(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr));
  if (!type.is_valid()) throw nb::python_error();
  m.attr(name) = type;
  return type.ptr();
}

// The library's errors name the program's commands and options, which are called otherwise here.
std::string in_python_words(std::string line) {
  static const std::array<std::pair<std::regex, const char*>, 7> kWords{{
      {std::regex("'subfleet train --resume ([^']*)'"), "Run.resume('$1')"},
      {std::regex("go on with --resume (.*), or"), "go on with Run.resume('$1'), or"},
      {std::regex("with --resume and"), "with Run.resume and"},
      {std::regex("the folder that 'subfleet train --out' made"), "the folder of a run"},
      {std::regex("start a new run with --out"), "start a new Run"},
      {std::regex("--client N or --clients A-B says"), "clients=(first, last) says"},
      {std::regex("--device ([a-z0-9-]+)"), "device=\"$1\""},
  }};
  for (const auto& [theirs, ours] : kWords) line = std::regex_replace(line, theirs, ours);
  return line;
}

void set_error(PyObject* type, const std::string& message) {
  PyErr_SetString(type, in_python_words(one_line(message)).c_str());
}

void translate(const std::exception_ptr& thrown, void*) {
  constexpr auto kMemory = "memory: there is not enough for this";
  try {
    std::rethrow_exception(thrown);
  } catch (const Diverged& error) {
    set_error(exceptions.diverged, error.what());
  } catch (const Error& error) {
    set_error(error.kind() == Error::Kind::kRequest ? exceptions.request : exceptions.failure, error.what());
  } catch (const std::bad_alloc&) {
    set_error(exceptions.failure, kMemory);
  } catch (const std::length_error&) {  // more than any memory holds
    set_error(exceptions.failure, kMemory);
  } catch (const nb::cast_error&) {
    set_error(exceptions.request, "argument: is not of the type that is wanted");
  } catch (const std::filesystem::filesystem_error& error) {  // a path that is too long, for one
    set_error(exceptions.failure,
              fmt::format("{}: cannot be used ({})", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    set_error(exceptions.failure, error.what());
  }
}

}  // namespace

void set_request_error(const std::string& line) { set_error(exceptions.request, line); }

void bind_errors(nb::module_& m) {
  exceptions.failure =
      add_exception(m, "Error", "What went wrong, in the one line that the program `subfleet` would print.",
                    PyExc_RuntimeError);
  exceptions.request =
      add_exception(m, "RequestError",
                    "What was asked for is wrong: a setting, an argument, a malformed file. The "
                    "line says what would be right.",
                    nb::make_tuple(nb::handle(exceptions.failure), nb::handle(PyExc_ValueError)));
  exceptions.diverged =
      add_exception(m, "Diverged", "Nothing more can be learnt: the weights or all updates are not finite.",
                    nb::handle(exceptions.failure));
  nb::register_exception_translator(translate, nullptr);
}

}  // namespace subfleet::python
