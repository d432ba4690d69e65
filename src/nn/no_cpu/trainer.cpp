#include "nn/trainers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

[[noreturn]] void refuse() {
  throw bad_request("device cpu",
                    "this build has no oneDNN; install libdnnl-dev and build again, or use reference");
}

}  // namespace

bool has_cpu_trainer() { return false; }

NetworkFactory cpu_networks() { refuse(); }
std::unique_ptr<Trainer> make_cpu_trainer(ThreadPool&, const ExampleSource&) { refuse(); }

std::string cpu_kernels() { return {}; }

double cpu_peak(ThreadPool&) { return 0; }

}  // namespace subfleet
