#include "config_values.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <toml++/toml.h>

#include "subfleet/error.h"
#include "subfleet/run.h"

namespace subfleet::python {
namespace {

nb::object object_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return nb::bool_(flag->get());
  if (const auto* whole = node.as_integer()) return nb::int_(whole->get());
  if (const auto* number = node.as_floating_point()) return nb::float_(number->get());
  if (const auto* text = node.as_string()) return nb::str(text->get().c_str(), text->get().size());
  nb::list list;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) list.append(object_of(item));
  }
  return list;
}

}  // namespace

uint32_t draw_of(const Config& config, uint32_t round) {
  if (round == 0) throw bad_request("round", "is counted from 1");
  return draw_of_round(config, round);
}

std::string utf8_of(const std::string& what, nb::handle text) {
  std::string utf8;
  if (!nb::try_cast(text, utf8)) throw bad_request(what, "must be plain text in UTF-8");
  return utf8;
}

nb::object value_of(const std::string& toml) {
  return object_of(*toml::parse("value = " + toml).get("value"));
}

// A Python value as the text that a user would write after `--set NAME=`.
std::string text_of(const std::string& name, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value) ? "true" : "false";
  if (nb::isinstance<nb::str>(value)) {
    std::string text = utf8_of(name, value);
    const bool quoted = text.starts_with('"') || text.starts_with('\'');  // would be taken for TOML's quotes
    return quoted ? nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(value)) : text;
  }
  if (nb::hasattr(value, "__fspath__")) return utf8_of(name, nb::str(value));
  if (nb::hasattr(value, "tolist"))  // an array of numpy's, or one of its numbers
    return text_of(name, value.attr("tolist")());
  if (nb::isinstance<nb::int_>(value) || nb::isinstance<nb::float_>(value))
    return nb::cast<std::string>(nb::repr(value));
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    std::string list;
    for (const nb::handle item : nb::iter(value))
      list += fmt::format("{}{}", list.empty() ? "" : ", ", text_of(name, item));
    return fmt::format("[{}]", list);
  }
  throw bad_request(name, "must be a number, a text, a flag or a list of numbers");
}

void apply(Config& config, const nb::dict& values, const std::string& prefix) {
  for (const auto& [key, value] : values) {
    const std::string name = prefix + utf8_of("setting", nb::str(key));
    if (nb::isinstance<nb::dict>(value)) {
      apply(config, nb::borrow<nb::dict>(value), name + ".");
    } else {
      set(config, name, text_of(name, value));
    }
  }
}

}  // namespace subfleet::python
