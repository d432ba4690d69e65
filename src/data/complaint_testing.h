#pragma once

#include <gtest/gtest.h>

#include <string>

#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {

// The one-line error with which these data are refused; the test fails if they are accepted.
inline std::string complaint_about(const DataOptions& options) {
  try {
    open_federation(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "malformed files were accepted";
  return "";
}

}  // namespace subfleet
