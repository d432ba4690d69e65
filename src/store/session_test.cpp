#include "subfleet/store/session.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

Provenance trained_on(const std::string& device) {
  return {.data = {},
          .initial = {},
          .sessions = {{.from_round = 0, .version = "1", .device = device, .kernels = "k"}}};
}

TEST(Session, SaysWhenAnotherDeviceGoesOn) {
  EXPECT_FALSE(other_workers(trained_on("cpu"), trained_on("cpu")));
  EXPECT_FALSE(other_workers(Provenance{}, trained_on("cpu")));
  EXPECT_EQ(
      other_workers(trained_on("cpu"), trained_on("cuda")),
      "trained by subfleet 1 on cpu k before, by subfleet 1 on cuda k from here: it may round differently");
}

TEST(Session, LetsARunGoOnWithWhatMayChangeAlone) {
  Config saved, config;
  config.run.rounds = saved.run.rounds + 1;
  config.run.eval_every = 3;
  EXPECT_NO_THROW(check_resumed(saved, config));
  config.code.keep = 0.25;
  try {
    check_resumed(saved, config);
    FAIL() << "another kept fraction went through";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "code.keep: cannot change in a run that has begun; start a new run with --out");
  }
}

TEST(Session, KnowsTheFileThatARunBeganWith) {
  const TemporaryFolder folder;
  write_file(folder.path() / "w", "one");
  const Provenance::Initial one = initial_weights_file(folder.path() / "w");
  EXPECT_EQ(one.file, (folder.path() / "w").string());
  EXPECT_EQ(one.fingerprint, Hash().add(std::string_view("one")).value());
  write_file(folder.path() / "w", "two");
  EXPECT_NE(initial_weights_file(folder.path() / "w").fingerprint, one.fingerprint);
}

}  // namespace
}  // namespace subfleet
