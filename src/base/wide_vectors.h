#pragma once

namespace subfleet {

#ifdef __x86_64__
template <typename Work>
__attribute__((flatten, target("avx512f,avx512dq"))) auto compiled_for_wide_vectors(const Work& work) {
  return work();
}
#endif

// Calls work(), compiled a second time for AVX-512 and run that way if this CPU has it. The work must be
// elementwise, so that the bits are the same at any width.
template <typename Work>
auto on_wide_vectors(const Work& work) {
#ifdef __x86_64__
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (wide) return compiled_for_wide_vectors(work);
#endif
  return work();
}

}  // namespace subfleet
