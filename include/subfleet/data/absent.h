#pragma once

#include <string>

#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {

// The data of a server without data: the clients keep theirs, and the server has nothing to test with.
class AbsentFederation final : public Federation {
 public:
  AbsentFederation(const Shape& input, uint32_t classes) : input_(input), classes_(classes) {}
  uint32_t clients() const override { return 0; }
  Shape input() const override { return input_; }
  uint32_t classes() const override { return classes_; }
  void read(uint32_t, Examples&) const override { throw failure("data", "the clients keep theirs"); }
  uint32_t samples(uint32_t) const override { return 0; }
  uint64_t fingerprint() const override { return 0; }
  std::string class_name(uint32_t label) const override { return std::to_string(label); }

 private:
  Shape input_;
  uint32_t classes_;
};

}  // namespace subfleet
