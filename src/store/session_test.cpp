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

TEST(Session, KnowsTheDeviceOfTheLastSession) {
  EXPECT_EQ(last_device(trained_on("cuda")), "cuda");
  EXPECT_EQ(last_device(Provenance{}), "cpu");
  EXPECT_EQ(last_device(std::nullopt), "cpu");
}

TEST(Session, LetsARunGoOnWithWhatMayChangeAlone) {
  Config saved;
  saved.code.family = "gold";
  validate(saved);
  const Config config = resumed_config(saved, [](Config& one) {
    ++one.run.rounds;
    one.run.eval_every = 3;
  });
  EXPECT_EQ(config.run.rounds, saved.run.rounds + 1);
  EXPECT_EQ(config.run.eval_every, 3u);
  EXPECT_THROW(resumed_config(saved, [](Config& one) { one.run.seed = 7; }), Error);
  try {
    resumed_config(saved, [](Config& one) { one.code.family = "random", one.code.keep = 0.25; });
    FAIL() << "another family went through";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "code.family: cannot change in a run that has begun; start a new run with --out");
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
