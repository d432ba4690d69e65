#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace subfleet {

// Memory that begins at a cache line, so that no vector straddles two.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* at, size_t) { ::operator delete(at, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

using AlignedFloats = std::vector<float, LineAllocator<float>>;

}  // namespace subfleet
