#include "subfleet/partial_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/wide_vectors.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

void check_examples(uint64_t examples) {
  if (examples < PartialSum::kMostExamples) return;
  throw bad_request("round.clients",
                    fmt::format("{} examples in one round; less than {} can be summed exactly", examples,
                                PartialSum::kMostExamples));
}

// The nearest integer to a value below 2^51 in size, ties to even, without a call and on every lane of a
// vector: adding 1.5 * 2^52 leaves it in the lowest bits.
uint64_t nearest(double value) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<uint64_t>(value + kShift) - std::bit_cast<uint64_t>(kShift);
}

struct Update {
  const SubModel& held;
  const float *whole, *trained;
  int64_t* sum;
  uint32_t* holders;
};

// Adds the update so many times and says whether every weight of it was sane. The integers wrap around, so
// adding it -times takes back even what was not.
bool add_times(const Update& update, uint64_t times) {
  uint64_t wild = 0;
  update.held.for_each_run([&](size_t full, size_t sub, size_t count) {
    const float *from = update.whole + full, *to = update.trained + sub;
    int64_t* sum = update.sum + full;
    uint32_t* holders = update.holders + full;
#pragma omp simd reduction(| : wild)
    for (size_t i = 0; i < count; ++i) {
      const double moved = static_cast<double>(to[i]) - static_cast<double>(from[i]);
      wild |= std::abs(moved) < PartialSum::kLargestUpdate ? 0u : 1u;  // NaN is not below
      sum[i] = static_cast<int64_t>(static_cast<uint64_t>(sum[i]) +
                                    nearest(moved * (1 / PartialSum::kResolution)) * times);
      holders[i] += static_cast<uint32_t>(times);
    }
  });
  return wild == 0;
}

}  // namespace

bool PartialSum::add(const SubModel& held, std::span<const float> whole, std::span<const float> trained,
                     uint32_t examples) {
  check_examples(examples_ + examples);
  const Update update{held, whole.data(), trained.data(), sum_.data(), held_.data()};
  const auto add = [&](uint64_t times) { return on_wide_vectors([&] { return add_times(update, times); }); };
  if (!add(examples)) {
    add(-uint64_t{examples});
    return false;
  }
  examples_ += examples;
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
