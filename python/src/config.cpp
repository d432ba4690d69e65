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

}  // namespace

void bind_config(nb::module_& m) {
  using Settings = nb::typed<nb::dict, nb::str, nb::any>;
  nb::class_<Config>(m, "Config",
                     "The settings of one federated training, by the names that `subfleet train --settings` "
                     "lists: config[\"code.family\"] = \"gold\". Defaults are the paper's.")
      .def(
          "__init__",
          [](Config* self, const Settings& settings) {
            Config config;
            apply(config, settings, "");
            new (self) Config(std::move(config));
          },
          nb::arg("settings") = nb::dict(),
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
      .def("__getitem__", &find, nb::arg("name"))
      .def(
          "__setitem__",
          [](Config& config, const std::string& name, nb::handle value) {
            set(config, name, text_of(name, value));
          },
          nb::arg("name"), nb::arg("value"))
      .def(
          "update", [](Config& config, const Settings& settings) { apply(config, settings, ""); },
          nb::arg("settings"), "Changes these settings.")
      .def_prop_ro(
          "settings",
          [](const Config& config) {
            Settings all;
            for (const Setting& s : settings(config)) all[s.name.c_str()] = value_of(s.value);
            return all;
          },
          "Every setting by its name.")
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
}

}  // namespace subfleet::python
