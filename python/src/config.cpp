#include "subfleet/config.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings.h"
#include "config_values.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet::python {
namespace {

nb::object find(const Config& config, const std::string& name) {
  std::vector<std::string> known;
  for (const Setting& setting : settings(config)) {
    if (setting.name == name) return value_of(setting.value);
    known.push_back(setting.name);
  }
  throw unknown_name("setting", name, known);
}

using Settings = nb::typed<nb::dict, nb::str, nb::any>;

Settings settings_of(const Config& config) {
  Settings all;
  for (const Setting& s : settings(config)) all[s.name.c_str()] = value_of(s.value);
  return all;
}

// All of them, or none: throws Error.
void update(Config& config, nb::handle mapping) {
  if (!nb::hasattr(mapping, "keys"))
    throw bad_request("settings", "must be given by their names, as in {\"run.rounds\": 10}");
  const nb::object dict = nb::borrow(reinterpret_cast<PyObject*>(&PyDict_Type))(mapping);
  Config changed = config;
  apply(changed, nb::borrow<nb::dict>(dict));
  config = std::move(changed);
}

// What a Mapping of Python's has.
void bind_mapping(nb::class_<Config>& type) {
  type.def("__getitem__", &find, nb::arg("name"))
      .def("__len__", [](const Config& config) { return settings(config).size(); })
      .def("__iter__", [](const Config& config) { return nb::iter(settings_of(config)); })
      .def("__contains__",
           [](const Config& config, nb::handle name) { return settings_of(config).contains(name); })
      .def(
          "keys", [](const Config& config) { return settings_of(config).attr("keys")(); },
          "The names of all settings.")
      .def(
          "values", [](const Config& config) { return settings_of(config).attr("values")(); },
          "Their values, in that order.")
      .def(
          "items", [](const Config& config) { return settings_of(config).attr("items")(); },
          "Names and values.")
      .def(
          "get",
          [](const Config& config, nb::handle name, nb::handle other) {
            return settings_of(config).attr("get")(name, other);
          },
          nb::arg("name"), nb::arg("default").none() = nb::none(),
          "A setting, or the default if there is no such setting.");
}

// The settings of a run, which another object than the run cannot change.
void bind_run_config(nb::module_& m) {
  const auto refuse = [](const RunConfig&, const nb::args&) {
    throw bad_request("config", "a run's settings cannot change; change a copy: config.copy()");
  };
  nb::class_<RunConfig, Config>(m, "RunConfig",
                                "The settings of a run, to be read; copy() gives some to change.")
      .def("__setitem__", refuse, nb::sig("def __setitem__(self, name: str, value: object, /) -> None"))
      .def("update", refuse,
           nb::sig("def update(self, settings: collections.abc.Mapping[str, typing.Any]) -> None"),
           "Raises Error.");
}

}  // namespace

void bind_config(nb::module_& m) {
  nb::class_<Config> type(
      m, "Config",
      "The settings of one federated training, by the names that `subfleet train --settings` "
      "lists: config[\"code.family\"] = \"gold\". Defaults are the paper's.");
  bind_mapping(type);
  type.def(
          "__init__",
          [](Config* self, nb::handle settings) {
            Config config;
            update(config, settings);
            new (self) Config(std::move(config));
          },
          nb::arg("settings") = nb::dict(),
          nb::sig("def __init__(self, settings: collections.abc.Mapping[str, typing.Any] = {}) -> None"),
          "The defaults with these settings over them: {\"code.family\": \"gold\"}, or {\"code\": "
          "{\"family\": \"gold\"}}.")
      .def_static(
          "from_toml", [](const std::string& text) { return parse_config(text, "config"); }, nb::arg("text"),
          "The settings of a configuration's text over the defaults.")
      .def_static(
          "load",
          [](const std::filesystem::path& path) {
            return parse_config(read_file_or_pipe(path, kMostTextBytes), path.string());
          },
          nb::arg("path"), "The settings of a configuration file over the defaults.")
      .def(
          "__setitem__",
          [](Config& config, const std::string& name, nb::handle value) {
            set(config, name, text_of(name, value));
          },
          nb::arg("name"), nb::arg("value"))
      .def(
          "update", [](Config& config, nb::handle settings) { update(config, settings); },
          nb::arg("settings"),
          nb::sig("def update(self, settings: collections.abc.Mapping[str, typing.Any]) -> None"),
          "Changes these settings, or none of them if one is wrong.")
      .def_prop_ro("settings", &settings_of, "Every setting by its name.")
      .def_prop_ro_static(
          "help",
          [](nb::handle) {
            nb::typed<nb::dict, nb::str, nb::str> all;
            for (const Setting& s : settings({})) all[s.name.c_str()] = s.help;
            return all;
          },
          "What every setting means, in one line each.")
      .def("toml", &to_toml, "All settings as a configuration file's text.")
      .def(
          "validate",
          [](Config& config) -> Config& {
            validate(config);
            return config;
          },
          nb::rv_policy::reference,
          "Checks what only shows when settings meet, and gives server.lr = 0 the optimizer's default. "
          "Raises "
          "Error; returns itself.")
      .def(
          "copy", [](const Config& config) { return Config(config); }, "The same settings, on their own.")
      .def(
          "__eq__", [](const Config& a, const Config& b) { return to_toml(a) == to_toml(b); },
          nb::is_operator(), kEqualSignature)
      .def("__repr__", [](const Config& config) {
        const auto defaults = settings({});
        std::string changed;
        for (const Setting& s : settings(config)) {
          const auto same = [&](const Setting& d) { return d.name == s.name && d.value == s.value; };
          if (std::ranges::none_of(defaults, same))
            changed += fmt::format("{}{} = {}", changed.empty() ? "" : ", ", s.name, s.value);
        }
        return fmt::format("Config({})", changed);
      });
  bind_run_config(m);
}

}  // namespace subfleet::python
