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

// What is wrong, in plain words where CUDA's own mislead, and what would help.
struct Trouble {
  std::string what, remedy;
};

std::string gigabytes(uint64_t bytes) { return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9); }

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// CUDA reports a missing driver and an old driver in the same way.
Trouble driver_trouble() {
  int newest = 0;
  if (cudaDriverGetVersion(&newest) != cudaSuccess || newest == 0)
    return {"there is no NVIDIA driver here", "use --device cpu"};
  return {fmt::format("the NVIDIA driver knows CUDA up to {}, this build has {}", cuda_version(newest),
                      cuda_version(CUDART_VERSION)),
          "install a newer driver or use --device cpu"};
}

Trouble memory_trouble() {
  size_t free = 0, total = 0;
  std::string what = fmt::format("too little memory is left; this process holds {}", gigabytes(held));
  if (cudaMemGetInfo(&free, &total) == cudaSuccess)
    what += fmt::format(", {} of {} are free", gigabytes(free), gigabytes(total));
  return {what, "fewer clients per round or a smaller batch need less, or use --device cpu"};
}

Trouble trouble_of(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return memory_trouble();
    case cudaErrorNoDevice:
      return {"no NVIDIA GPU is visible here", "use --device cpu"};
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorStubLibrary:
      return driver_trouble();
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return {"this build has no code that this GPU and its driver can run",
              "build with -DCMAKE_CUDA_ARCHITECTURES=native or use --device cpu"};
    case cudaErrorDevicesUnavailable:
      return {"the GPU is busy or shut to this process", "try again later or use --device cpu"};
    default:
      return {cudaGetErrorString(code),
              "a run goes on from its last checkpoint with --resume and --device cpu"};
  }
}

}  // namespace

int local_rank(const std::function<const char*(const char*)>& variable) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    const char* text = variable(name);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    int rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (error == std::errc{} && end == digits.data() + digits.size() && rank >= 0) return rank;
  }
  return 0;
}

void check(cudaError_t code, std::string_view doing) {
  if (code == cudaSuccess) return;
  const Trouble trouble = trouble_of(code);
  cudaGetLastError();  // clears the error; otherwise the next launch would report it again
  throw failure("device cuda",
                fmt::format("{}: {} ({}); {}", doing, trouble.what, cudaGetErrorName(code), trouble.remedy));
}

void use_gpu() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for a GPU");
  if (count == 0) check(cudaErrorNoDevice, "looking for a GPU");
  const int rank = local_rank([](const char* name) -> const char* { return std::getenv(name); });
  check(cudaSetDevice(rank % count), "taking the GPU");
  check(cudaFree(nullptr), "starting the GPU");
  check_code();
}

std::string gpu_name() {
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    cudaGetLastError();
    return "no GPU";
  }
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

void release(void* at, size_t bytes) noexcept {
  if (at == nullptr) return;
  cudaFree(at);  // fails on a lost GPU; the next wait for the GPU reports it
  held -= bytes;
}

uint64_t memory_peak() { return most; }

}  // namespace subfleet::cuda
