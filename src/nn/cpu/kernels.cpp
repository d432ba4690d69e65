#include "nn/cpu/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "subfleet/error.h"

namespace subfleet::cpu {
namespace {

const Kernels& choose() {
  const std::vector<const Kernels*> usable = usable_kernels();
  const char* wanted = std::getenv("SUBFLEET_KERNELS");
  if (wanted == nullptr || *wanted == '\0') return *usable.front();
  std::vector<std::string> names;
  for (const Kernels* each : usable) {
    if (each->name == wanted) return *each;
    names.emplace_back(each->name);
  }
  throw unknown_name("SUBFLEET_KERNELS: kernels of this CPU", wanted, names);
}

}  // namespace

size_t scratch_floats(const DenseSize& size) { return size.batch * size.out; }

size_t scratch_floats(const ConvSize& size) {
  constexpr size_t kPoints = 64, kMade = 4, kAround = 4, kLine = 16;
  const size_t down = (size.height + kMade - 1) / kMade, across = (size.width + kMade - 1) / kMade;
  const size_t tiles = std::min(size.batch, kConvGroup) * down * across;
  const size_t groups = size.training ? (size.batch + kConvGroup - 1) / kConvGroup : 1;
  const size_t frame = (down * kMade + kAround) * (across * kMade + kAround) * kLine;
  return frame + kPoints * (3 * (size.in * size.out + kLine) + tiles * size.out + kLine +
                            groups * (tiles * size.in + kLine));
}

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> usable = special_kernels();
  usable.push_back(&kPortableKernels);
  return usable;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace subfleet::cpu
