#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nn/network.h"
#include "subfleet/trainer.h"

namespace subfleet {

// The networks of that device, for code that trains single jobs in its own process. Throws Error if there is
// no such device, or if it is a GPU.
NetworkFactory host_networks(std::string_view device);

// One function per trainer, each in the folder of its name. A new one also needs a line in trainers.cpp.
NetworkFactory reference_networks();
std::unique_ptr<Trainer> make_reference_trainer(ThreadPool& pool, const ExampleSource& source);

// A build without oneDNN links no_cpu/ instead of cpu/. It has no cpu trainer, and making one throws Error.
bool has_cpu_trainer();
NetworkFactory cpu_networks();
std::unique_ptr<Trainer> make_cpu_trainer(ThreadPool& pool, const ExampleSource& source);

// A build without a CUDA toolkit links no_cuda/ instead of cuda/. There, and on a machine without a GPU,
// making a cuda trainer throws Error that says what is missing. TF32 rounds the factors of large products to
// 10 bits.
bool has_cuda_trainer();
void wake_cuda();  // for wake_device
std::unique_ptr<Trainer> make_cuda_trainer(ThreadPool& pool, const ExampleSource& source);
std::unique_ptr<Trainer> make_cuda_tf32_trainer(ThreadPool& pool, const ExampleSource& source);
std::string cuda_kernels();          // "NVIDIA H200"
double cuda_peak(ThreadPool& pool);  // like cpu_peak(), of the GPU's f32 units
uint64_t cuda_memory();              // the most GPU memory that this process has used so far, in bytes

// The kernels of the cpu trainer: "avx512", "avx2" or "portable".
std::string cpu_kernels();

// Floating-point operations per second that all threads of the pool reach together in registers alone.
double cpu_peak(ThreadPool& pool);

}  // namespace subfleet
