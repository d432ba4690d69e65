#include "nn/cuda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>

#include "subfleet/error.h"

namespace subfleet::cuda {
namespace {

std::atomic<uint64_t> held = 0, most = 0;

constexpr std::string_view kGoOn = "a run goes on from its last checkpoint with --resume and --device cpu";

std::string advice(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return fmt::format("{:.1f} GB are held already; fewer clients per round or a smaller batch need less",
                         static_cast<double>(held.load()) / 1e9);
    case cudaErrorNoDevice:
      return "no NVIDIA GPU is visible here; use --device cpu";
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorStubLibrary:
      return "there is no NVIDIA driver, or one that is too old for this build's CUDA; use --device cpu";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
      return "this build has no code for that GPU; build with -DCMAKE_CUDA_ARCHITECTURES=native, or use "
             "--device cpu";
    default:
      return std::string(kGoOn);
  }
}

// The rank's number on its machine, as mpirun and others tell it.
int local_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    int rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (error == std::errc{} && end == digits.data() + digits.size() && rank >= 0) return rank;
  }
  return 0;
}

}  // namespace

void check(cudaError_t code, std::string_view doing) {
  if (code == cudaSuccess) return;
  throw failure("device cuda", fmt::format("{}: {} ({}); {}", doing, cudaGetErrorString(code),
                                           cudaGetErrorName(code), advice(code)));
}

void use_gpu() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for a GPU");
  if (count == 0) check(cudaErrorNoDevice, "looking for a GPU");
  check(cudaSetDevice(local_rank() % count), "taking the GPU");
  check(cudaFree(nullptr), "starting the GPU");
}

std::string gpu_name() {
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return "no GPU";
  return properties.name;
}

void* allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* at = nullptr;
  check(cudaMalloc(&at, bytes),
        fmt::format("taking {:.1f} MB of the GPU's memory", static_cast<double>(bytes) / 1e6));
  const uint64_t now = held += bytes;
  uint64_t before = most;
  while (before < now && !most.compare_exchange_weak(before, now)) {
  }
  return at;
}

void release(void* at, size_t bytes) {
  if (at == nullptr) return;
  cudaFree(at);
  held -= bytes;
}

uint64_t memory_peak() { return most; }

}  // namespace subfleet::cuda
