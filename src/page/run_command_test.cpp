#include "page/run_command.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(RunCommand, NamesEverySettingThatIsNotTheDefaultAndNoOther) {
  RunSummary run;
  run.folder = "/somewhere/it's mine";
  Provenance provenance;
  provenance.initial = Provenance::Initial{.file = "w 1.safetensors", .fingerprint = 0};
  provenance.sessions.emplace_back().device = "cuda-tf32";
  run.provenance = provenance;
  Config config;
  EXPECT_EQ(train_command(run, config),
            "subfleet train --init 'w 1.safetensors' --device cuda-tf32 --out 'runs/it'\\''s mine'");
  set(config, "code.family", "cwc");
  set(config, "run.seed", "7");
  set(config, "code.tiers", "[1.0, 0.5]");
  set(config, "code.layers.conv2.keep", "0.75");
  set(config, "data.path", "'$(rm -rf x)'");
  const std::string command = train_command(run, config);
  for (const char* part : {" --set code.family=cwc ", " --set run.seed=7 ", " --set 'code.tiers=[1.0, 0.5]' ",
                           " --set code.layers.conv2.keep=0.75 ", "'data.path='\\''$(rm -rf x)'\\'''"}) {
    EXPECT_NE(command.find(part), std::string::npos) << part << "\n" << command;
  }
}

}  // namespace
}  // namespace subfleet
