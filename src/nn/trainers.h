#pragma once

#include <memory>
#include <string>

#include "subfleet/trainer.h"

namespace subfleet {

// One function per trainer, each in the folder of its name; a new one is also a line in trainers.cpp.
std::unique_ptr<Trainer> make_reference_trainer(ThreadPool& pool, const ExampleSource& source);

// A build without oneDNN links no_cpu/ instead of cpu/: it has no such trainer, and making it throws Error.
bool has_cpu_trainer();
std::unique_ptr<Trainer> make_cpu_trainer(ThreadPool& pool, const ExampleSource& source);

// Which kernels the cpu trainer runs: "avx512", "avx2" or "portable".
std::string cpu_kernels();

// Floating-point operations per second that all threads of the pool together reach on registers alone.
double cpu_peak(ThreadPool& pool);

}  // namespace subfleet
