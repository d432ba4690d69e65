#include "nn/trainers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "nn/trainer_testing.h"
#include "subfleet/error.h"
#include "subfleet/thread_pool.h"

namespace subfleet {
namespace {

TEST(Trainers, EveryListedNameCanBeMade) {
  ThreadPool pool(1);
  const std::vector<std::string> names = trainer_names();
  EXPECT_TRUE(std::ranges::find(names, "reference") != names.end());
  const ReadyExamples examples;
  for (const std::string& name : names) EXPECT_NE(make_trainer(name, pool, examples), nullptr);
}

TEST(Trainers, AnUnknownNameIsAnErrorThatNamesTheNearest) {
  ThreadPool pool(1);
  try {
    make_trainer("refrence", pool, ReadyExamples());
    FAIL() << "made a trainer of an unknown name";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    EXPECT_NE(std::string(error.what()).find("nearest: reference"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subfleet
