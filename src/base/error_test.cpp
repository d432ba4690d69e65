#include "subfleet/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace subfleet {
namespace {

TEST(Error, UnknownNameNamesTheNearest) {
  const std::vector<std::string> known{"none", "gold", "cwc"};
  const Error error = unknown_name("code.family", "glod", known);
  EXPECT_EQ(error.kind(), Error::Kind::kRequest);
  EXPECT_STREQ(error.what(), "code.family: unknown 'glod'; nearest: gold (known: none, gold, cwc)");
}

TEST(Error, KindsTellRequestsFromFailures) {
  EXPECT_EQ(bad_request("a", "b").kind(), Error::Kind::kRequest);
  EXPECT_EQ(failure("a", "b").kind(), Error::Kind::kFailure);
}

}  // namespace
}  // namespace subfleet
