#include "subfleet/work/shared_fleets.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"
#include "tiny_glyphs.h"

namespace subfleet {
namespace {

TEST(SharedFleets, RunsWithTheSameDataShareAFleet) {
  SharedFleets fleets("reference", 1);
  Config config = tiny_glyphs();
  Fleet* const first = &fleets.fleet(config);
  config.server.lr = 0.5;
  EXPECT_EQ(&fleets.fleet(config), first);
  config.data.writers = 12;
  EXPECT_EQ(fleets.fleet(config).clients(), 12u);
  EXPECT_EQ(fleets.fleet(tiny_glyphs()).clients(), 10u);
}

TEST(SharedFleets, DataThatDoNotFitLeaveTheFleetBefore) {
  SharedFleets fleets("reference", 1);
  Fleet* const first = &fleets.fleet(tiny_glyphs());
  Config more = tiny_glyphs();
  more.data.writers = 3;  // of which 4 are to train
  EXPECT_THROW(fleets.fleet(more), Error);
  EXPECT_EQ(&fleets.fleet(tiny_glyphs()), first);
}

TEST(SharedFleets, AFleetThatCannotBeMadeIsNotKept) {
  SharedFleets fleets("abacus", 1);
  EXPECT_THROW(fleets.fleet(tiny_glyphs()), Error);
  EXPECT_THROW(fleets.fleet(tiny_glyphs()), Error) << "the first failure left no fleet behind";
}

}  // namespace
}  // namespace subfleet
