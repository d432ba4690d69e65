#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <regex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bindings.h"
#include "errors.h"
#include "subfleet/base/text.h"

// Arguments that a function does not take: nanobind explains them in a paragraph, and as a TypeError. Here
// they are one line and a RequestError, like everything else that is asked for wrongly.
namespace subfleet::python {
namespace {

// nanobind's own calls, by function. Never freed.
std::unordered_map<PyObject*, vectorcallfunc>& nanobinds_calls() {
  static auto* const all = new std::unordered_map<PyObject*, vectorcallfunc>();
  return *all;
}

// Where a function keeps how it is called (PEP 590).
vectorcallfunc& call_of(PyObject* function) {
  return *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) +
                                            Py_TYPE(function)->tp_vectorcall_offset);
}

// A value that is short as itself, any other as its type.
std::string argument_text(nb::handle value) {
  constexpr size_t kWidth = 40;
  const bool is_short = value.is_none() || nb::isinstance<nb::int_>(value) ||
                        nb::isinstance<nb::float_>(value) || nb::isinstance<nb::str>(value);
  if (is_short)
    return clip_text(nb::cast<std::string>(nb::str(nb::module_::import_("builtins").attr("ascii")(value))),
                     kWidth);
  auto text = nb::cast<std::string>(value.type().attr("__name__"));
  if (nb::hasattr(value, "dtype")) {
    const nb::object dtype = value.attr("dtype");
    text += " of " + nb::cast<std::string>(nb::str(nb::handle(dtype)));
  }
  return text;
}

// "(row: int, client: int = 0)", out of nanobind's paragraph.
std::string parameters_in(std::string_view said) {
  const size_t begin = said.find('(', said.find("1. ")), end = said.find('\n', begin);
  std::string_view line = said.substr(begin, end - begin);
  line = line.substr(0, line.rfind(" -> "));
  static const std::regex kArray(R"((numpy\.)?ndarray\[dtype=(\w+)[^\]]*\])");
  std::string parameters = std::regex_replace(std::string(line), kArray, "ndarray of $2");
  for (const std::string_view of_no_use : {"subfleet._core.", "self, "}) {
    for (size_t at = 0; (at = parameters.find(of_no_use, at)) != std::string::npos;)
      parameters.erase(at, of_no_use.size());
  }
  return parameters == "(self)" ? "()" : parameters;
}

// One call's arguments, as Python passes them.
struct Arguments {
  PyObject* const* values;
  size_t count;     // of those without a name
  PyObject* names;  // of those behind them; may be null
};

std::string text_of(const Arguments& given, size_t first) {
  std::string text;
  for (size_t i = first; i < given.count; ++i)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", argument_text(given.values[i]));
  for (Py_ssize_t i = 0; given.names != nullptr && i < PyTuple_Size(given.names); ++i) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ",
                        nb::cast<std::string>(nb::handle(PyTuple_GetItem(given.names, i))),
                        argument_text(given.values[given.count + static_cast<size_t>(i)]));
  }
  return text;
}

std::string refusal(PyObject* function, const Arguments& given, std::string_view said) {
  const bool is_method = nb::cast<std::string>(nb::handle(function).type().attr("__name__")) == "nb_method";
  std::string name(said.substr(0, said.find('(')));
  if (name == "__init__" && given.count > 0)
    name = nb::cast<std::string>(nb::handle(given.values[0]).type().attr("__name__"));
  return fmt::format("{}: does not take ({}); it takes {}, with whole numbers from 0 on",
                     name.empty() ? "value" : name, text_of(given, is_method ? 1 : 0), parameters_in(said));
}

PyObject* call_in_one_line(PyObject* function, PyObject* const* values, size_t flags, PyObject* names) {
  constexpr size_t kCount = 0xffffffff;  // nanobind has bits of its own above
  PyObject* const result = nanobinds_calls().at(function)(function, values, flags, names);
  if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return result;
  nb::python_error raised;
  try {
    const auto said = nb::cast<std::string>(nb::str(raised.value()));
    if (said.find("(): incompatible function arguments") == std::string::npos) {
      raised.restore();
    } else {
      set_request_error(refusal(function, {values, flags & kCount, names}, said));
    }
  } catch (nb::python_error& error) {  // a repr that raises
    error.restore();
  } catch (...) {  // nanobind must not see it
    raised.restore();
  }
  return nullptr;
}

void take_over(nb::handle function) {
  if (nb::isinstance<nb::type_object>(function) || !nb::hasattr(function, "__nb_signature__")) return;
  vectorcallfunc& call = call_of(function.ptr());
  if (nanobinds_calls().emplace(function.ptr(), call).second) call = &call_in_one_line;
}

}  // namespace

void shorten_refusals(nb::module_& m) {
  for (const nb::handle word : nb::list(m.attr("__dict__").attr("values")())) {
    if (!nb::isinstance<nb::type_object>(word)) {
      take_over(word);
      continue;
    }
    for (const nb::handle member : nb::list(word.attr("__dict__").attr("values")())) {
      take_over(member);
      for (const char* accessor : {"fget", "fset"}) {
        if (nb::hasattr(member, accessor)) take_over(member.attr(accessor));
      }
    }
  }
}

}  // namespace subfleet::python
