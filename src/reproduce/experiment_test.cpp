#include "subfleet/reproduce/experiment.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "subfleet/base/file.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

Experiment experiment_of(const std::string& part, const std::string& name) {
  const fs::path home = SUBFLEET_SOURCE_DIR;
  return parse_experiment(read_file(home / "experiments" / part / (name + ".toml")), name,
                          [&](Config& config, ExperimentKind) {
                            if (!config.model.file.empty()) config.model.file = home / config.model.file;
                          });
}

// The values of an experiment's file, as results.json has them.
Json values_of(const Experiment& experiment) {
  Json values = Json::array();
  for (const ExpectedValue& value : experiment.values) {
    const bool claimed = value.paper.kind != Claim::Kind::kNone;
    values.push_back({{"value", value.what}, {"paper", claimed ? Json(value.paper.text) : Json()}});
  }
  return values;
}

// results/ is made from experiments/, and is made again when those change.
TEST(Experiment, TheRepositorysResultsAreOfItsExperiments) {
  for (const char* part : {"paper", "beyond"}) {
    const fs::path home = SUBFLEET_SOURCE_DIR;
    std::map<std::string, Json> results;
    for (const Json& one : Json::parse(read_file(home / "results" / part / "results.json")))
      results[one.at("experiment")] = one;
    const std::vector<std::string> names = experiment_names(home / "experiments" / part);
    EXPECT_EQ(results.size(), names.size()) << part;
    for (const std::string& name : names) {
      const Experiment experiment = experiment_of(part, name);
      ASSERT_TRUE(results.contains(name)) << name << " is not in results/" << part;
      Json values = Json::array();
      for (const Json& value : results.at(name).at("values")) {
        values.push_back({{"value", value.at("value")}, {"paper", value.at("paper")}});
        if (!experiment.runs_of.empty()) continue;
        std::vector<std::string> readings;
        for (const Json& reading : value.at("readings")) readings.push_back(reading.at("reading"));
        EXPECT_EQ(readings, experiment.readings) << name;
      }
      EXPECT_EQ(values, values_of(experiment)) << name;
    }
  }
}

TEST(Experiment, AClaimIsANumberOrASide) {
  EXPECT_EQ(parse_claim("83.8").kind, Claim::Kind::kEqual);
  EXPECT_DOUBLE_EQ(parse_claim("83.8").half_digit, 0.05);
  EXPECT_DOUBLE_EQ(parse_claim("75").half_digit, 0.5);
  EXPECT_EQ(parse_claim("> 1").kind, Claim::Kind::kAbove);
  EXPECT_EQ(parse_claim("<-0.5").number, -0.5);
}

}  // namespace
}  // namespace subfleet
