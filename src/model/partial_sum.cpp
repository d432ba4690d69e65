#include "subfleet/partial_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "base/wide_vectors.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// The nearest integer to a value below 2^51 in size, ties to even, without a call and on every lane of a
// vector: adding 1.5 * 2^52 leaves it in the lowest bits.
uint64_t nearest(double value) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<uint64_t>(value + kShift) - std::bit_cast<uint64_t>(kShift);
}

// What one client adds. Without `whole`, `trained` is the update itself.
struct Addend {
  const SubModel& held;
  const float *whole, *trained;
  int64_t* sum;
  uint32_t* holders;
};

// Adds the update `times` times and returns whether every value of it was sane. The integers wrap around, so
// adding it -times undoes even values that were not.
template <bool kDifference>
bool add_times(const Addend& addend, uint64_t times) {
  uint64_t wild = 0;
  addend.held.for_each_run([&](size_t full, size_t sub, size_t count) {
    const float *from = kDifference ? addend.whole + full : nullptr, *to = addend.trained + sub;
    int64_t* sum = addend.sum + full;
    uint32_t* holders = addend.holders + full;
#pragma omp simd reduction(| : wild)
    for (size_t i = 0; i < count; ++i) {
      float update = to[i];
      if constexpr (kDifference) update -= from[i];
      wild |= std::abs(update) < PartialSum::kLargestUpdate ? 0u : 1u;  // NaN is not below
      const uint64_t rounded = nearest(static_cast<double>(update) * (1 / PartialSum::kResolution));
      sum[i] = static_cast<int64_t>(static_cast<uint64_t>(sum[i]) + rounded * times);
      holders[i] += static_cast<uint32_t>(times);
    }
  });
  return wild == 0;
}

template <bool kDifference>
bool add_if_sane(const Addend& addend, uint32_t examples) {
  const auto add = [&](uint64_t times) {
    return on_wide_vectors([&] { return add_times<kDifference>(addend, times); });
  };
  if (add(examples)) return true;
  add(-uint64_t{examples});
  return false;
}

void check_size(std::string_view what, size_t size, size_t expected) {
  if (size == expected) return;
  throw bad_request("partial sum", fmt::format("{} has {} values; expected {}", what, size, expected));
}

}  // namespace

bool PartialSum::add(const SubModel& held, std::span<const float> update, uint32_t examples) {
  check_size("a whole model", held.whole_size(), size());
  check_size("an update", update.size(), held.size());
  check_examples(examples_ + examples);
  if (!add_if_sane<false>({held, nullptr, update.data(), sum_.data(), held_.data()}, examples)) return false;
  examples_ += examples;
  return true;
}

bool PartialSum::add_difference(const SubModel& held, std::span<const float> whole,
                                std::span<const float> trained, uint32_t examples) {
  check_size("a whole model", held.whole_size(), size());
  check_size("a whole model", whole.size(), size());
  check_size("a sub-model", trained.size(), held.size());
  check_examples(examples_ + examples);
  if (!add_if_sane<true>({held, whole.data(), trained.data(), sum_.data(), held_.data()}, examples))
    return false;
  examples_ += examples;
  return true;
}

void PartialSum::add_holder(const SubModel& held, uint32_t examples) {
  check_size("a whole model", held.whole_size(), size());
  check_examples(examples_ + examples);
  held.for_each_run([&](size_t full, size_t, size_t count) {
    for (size_t i = full; i < full + count; ++i) held_[i] += examples;
  });
  examples_ += examples;
}

void PartialSum::merge(const PartialSum& other) {
  check_size("a sum to be merged", other.size(), size());
  check_examples(examples_ + other.examples_);
  examples_ += other.examples_;
  for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += other.sum_[i];
  for (size_t i = 0; i < held_.size(); ++i) held_[i] += other.held_[i];
}

void PartialSum::check_examples(uint64_t examples) {
  if (examples < kMostExamples) return;
  throw bad_request(
      "round.clients",
      fmt::format("{} examples in one round; less than {} can be summed exactly", examples, kMostExamples));
}

void PartialSum::set_examples(uint64_t examples) {
  check_examples(examples);
  examples_ = examples;
}

void PartialSum::clear() {
  examples_ = 0;
  std::fill(sum_.begin(), sum_.end(), 0);
  std::fill(held_.begin(), held_.end(), 0u);
}

}  // namespace subfleet
