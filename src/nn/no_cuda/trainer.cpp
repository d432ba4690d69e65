#include "nn/trainers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

[[noreturn]] void refuse() {
  throw bad_request("device cuda",
                    "this build has no CUDA; install CUDA's toolkit and build again, or use cpu");
}

}  // namespace

bool has_cuda_trainer() { return false; }
void wake_cuda() {}

std::unique_ptr<Trainer> make_cuda_trainer(ThreadPool&, const ExampleSource&) { refuse(); }
std::unique_ptr<Trainer> make_cuda_tf32_trainer(ThreadPool&, const ExampleSource&) { refuse(); }

std::string cuda_kernels() { return {}; }
double cuda_peak(ThreadPool&) { return 0; }
uint64_t cuda_memory() { return 0; }

}  // namespace subfleet
