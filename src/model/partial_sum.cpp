#include "subfleet/partial_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subfleet/error.h"

namespace subfleet {
namespace {

void check_examples(uint64_t examples) {
  if (examples < PartialSum::kMostExamples) return;
  throw bad_request("round.clients",
                    fmt::format("{} examples in one round; less than {} can be summed exactly", examples,
                                PartialSum::kMostExamples));
}

}  // namespace

bool PartialSum::add(const SubModel& held, std::span<const float> start, std::span<const float> trained,
                     uint32_t examples) {
  bool sane = true;
  for (size_t i = 0; i < start.size(); ++i) {
    sane &= std::abs(trained[i] - start[i]) < kLargestUpdate;  // false for NaN too
  }
  if (!sane) return false;
  check_examples(examples_ + examples);
  examples_ += examples;
  held.for_each_run([&](size_t full, size_t sub, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const double update = static_cast<double>(trained[sub + i]) - static_cast<double>(start[sub + i]);
      sum_[full + i] += static_cast<int64_t>(std::nearbyint(update / kResolution)) * int64_t{examples};
      held_[full + i] += examples;
    }
  });
  return true;
}

void PartialSum::merge(const PartialSum& other) {
  check_examples(examples_ + other.examples_);
  examples_ += other.examples_;
  for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += other.sum_[i];
  for (size_t i = 0; i < held_.size(); ++i) held_[i] += other.held_[i];
}

void PartialSum::clear() {
  examples_ = 0;
  std::fill(sum_.begin(), sum_.end(), 0);
  std::fill(held_.begin(), held_.end(), 0u);
}

}  // namespace subfleet
