#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "subfleet/submodel.h"

namespace subfleet {

// Per weight of the whole model: the sum of p_k * delta_k and the sum of p_k over the clients that held it,
// p_k being the client's number of examples. Updates are rounded once to a multiple of 2^-36 and then added
// as 64-bit integers, so the sum is exact and does not depend on the order: threads, GPUs and ranks each make
// one and they are merged. Sizes are checked everywhere; a wrong one throws Error.
class PartialSum {
 public:
  static constexpr double kResolution = 0x1.0p-36;
  static constexpr float kLargestUpdate = 64;  // of one weight in one round; beyond, a client diverged
  static constexpr uint64_t kMostExamples = uint64_t{1}
                                            << 21;  // in one sum: 64 * 2^21 * 2^36 = 2^63 cannot overflow

  explicit PartialSum(size_t weights) : sum_(weights, 0), held_(weights, 0) {}

  // Adds one client's update of the weights that it held, counted `examples` times. Returns false, adding
  // nothing, if a value is not finite or not below kLargestUpdate. Throws Error from kMostExamples on.
  [[nodiscard]] bool add(const SubModel& held, std::span<const float> update, uint32_t examples);
  // The same for the update `trained` - `whole`, in one pass: the f32 difference of a trained sub-model and
  // the whole model that it was taken from.
  [[nodiscard]] bool add_difference(const SubModel& held, std::span<const float> whole,
                                    std::span<const float> trained, uint32_t examples);
  // Counts a client as a holder of its weights, if its update arrives as part of another sum.
  void add_holder(const SubModel& held, uint32_t examples);

  void merge(const PartialSum& other);
  void clear();

  size_t size() const { return sum_.size(); }

  // As plain arrays, one value per weight: sums in units of kResolution, and the holders' examples. The
  // caller may fill or reduce them, and then sets examples() accordingly.
  std::span<int64_t> sums() { return sum_; }
  std::span<const int64_t> sums() const { return sum_; }
  std::span<uint32_t> holders() { return held_; }
  std::span<const uint32_t> holders() const { return held_; }
  uint64_t examples() const { return examples_; }
  void set_examples(uint64_t examples);
  // Throws Error from kMostExamples on.
  static void check_examples(uint64_t examples);

  bool held(size_t weight) const { return held_[weight] != 0; }
  // The part of all examples whose clients held the weight.
  double share(size_t weight) const {
    return examples_ == 0 ? 0.0 : static_cast<double>(held_[weight]) / static_cast<double>(examples_);
  }
  // The mean update over those who held the weight; 0 if no client did.
  double mean(size_t weight) const { return mean_of(sum_[weight], held_[weight]); }

  // mean() from the two plain values, without a branch; the same on every device. If no client held the
  // weight, the sum is 0.
  static constexpr double mean_of(int64_t sum, uint32_t holders) {
    return static_cast<double>(sum) / static_cast<double>(holders == 0 ? 1 : holders) * kResolution;
  }

  bool operator==(const PartialSum&) const = default;

 private:
  uint64_t examples_ = 0;
  std::vector<int64_t> sum_;
  std::vector<uint32_t> held_;
};

}  // namespace subfleet
