#include "subfleet/report/differences.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "subfleet/base/text.h"
#include "subfleet/report/table.h"

namespace subfleet {
namespace {

using Keys = std::vector<std::string>;

ReportedRun run_of(const std::string& name, std::map<std::string, std::string> settings) {
  ReportedRun run;
  run.name = name;
  run.settings = std::move(settings);
  return run;
}

TEST(Differences, NameTheSettingsThatAreNotEqualInAllRuns) {
  const std::array runs{run_of("a", {{"code.family", "gold"}, {"run.seed", "1"}, {"server.lr", "0.1"}}),
                        run_of("b", {{"code.family", "gold"}, {"run.seed", "2"}, {"server.lr", "0.1"}}),
                        run_of("c", {{"code.family", "gold"},
                                     {"code.layers.conv2.keep", "0.25"},
                                     {"run.seed", "1"},
                                     {"server.lr", "0.1"}})};
  const auto differences = differing_settings(runs);
  EXPECT_EQ(differences.keys, (Keys{"code.layers.conv2.keep", "run.seed"}));
  EXPECT_EQ(differences.values[0], (std::vector<std::optional<std::string>>{std::nullopt, "1"}));
  EXPECT_EQ(differences.values[2], (std::vector<std::optional<std::string>>{"0.25", "1"}));

  const std::string table = differences_table(runs, 100);
  for (const char* words : {"code.layers.conv2.keep", "run.seed", "0.25"})
    EXPECT_NE(table.find(words), std::string::npos) << table;
  EXPECT_EQ(table.find("server.lr"), std::string::npos) << table;

  const auto json = nlohmann::json::parse(report_json(runs, compare_runs(runs)));
  EXPECT_EQ(json["differing_settings"], (Keys{"code.layers.conv2.keep", "run.seed"}));
  EXPECT_EQ(json["runs"][2]["settings"]["code.layers.conv2.keep"], 0.25);
  EXPECT_EQ(json["runs"][0]["settings"]["code.layers.conv2.keep"], nullptr);
  EXPECT_EQ(json["runs"][1]["settings"]["run.seed"], 2);
}

TEST(Differences, WhatDoesNotDecideLearningCountsOnlyAlone) {
  std::array runs{run_of("a", {{"data.path", "x"}, {"run.seed", "1"}, {"tune.delta", "1"}}),
                  run_of("b", {{"data.path", "y"}, {"run.seed", "2"}, {"tune.delta", "2"}})};
  EXPECT_EQ(differing_settings(runs).keys, (Keys{"run.seed"}));
  runs[1].settings["run.seed"] = "1";
  EXPECT_EQ(differing_settings(runs).keys, (Keys{"data.path", "tune.delta"}));
}

TEST(Differences, EqualRunsAreSaidToBe) {
  const std::array runs{run_of("a", {{"run.seed", "1"}}), run_of("b", {{"run.seed", "1"}}), run_of("c", {})};
  EXPECT_EQ(differing_settings(runs).keys, Keys{}) << "nobody knows the settings of the third";
  EXPECT_NE(differences_table(runs, 100).find("No setting differs"), std::string::npos);
  EXPECT_EQ(differences_table(std::span(runs).first(1), 100), "");
}

TEST(Differences, ManySettingsAreSeveralTables) {
  std::array runs{run_of("a", {}), run_of("b", {})};
  for (int i = 0; i < 30; ++i) {
    const std::string key = "section.setting" + std::to_string(i);
    runs[0].settings[key] = std::string(100, 'x');
    runs[1].settings[key] = "y";
  }
  const std::string table = differences_table(runs, 80);
  for (const auto& [key, value] : runs[0].settings) EXPECT_NE(table.find(key), std::string::npos);
  size_t start = 0;
  for (size_t end; (end = table.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(text_width(table.substr(start, end - start)), 80U);
}

}  // namespace
}  // namespace subfleet
