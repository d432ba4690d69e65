#pragma once

#include <cstddef>

namespace subfleet::cpu {
namespace {

// Handles the rest of a row that fills no vector, on CPUs with fused multiply-add.
struct OneLane {
  static constexpr size_t kLanes = 1;
  float r;

  static OneLane zero() { return {0}; }
  static OneLane all(float value) { return {value}; }
  static OneLane load(const float* from) { return {*from}; }
  static OneLane mul(OneLane a, OneLane b) { return {a.r * b.r}; }
  static OneLane fma(OneLane a, OneLane b, OneLane c) { return {__builtin_fmaf(a.r, b.r, c.r)}; }
  void store(float* to) const { *to = r; }
  float sum() const { return r; }
};

}  // namespace
}  // namespace subfleet::cpu
