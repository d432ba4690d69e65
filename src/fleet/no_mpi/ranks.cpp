#include "subfleet/fleet/ranks.h"

#include <cstdlib>

#include "subfleet/error.h"

namespace subfleet {

struct Ranks::State {};

Ranks::Ranks(int&, char**&) {
  const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (ranks != nullptr && std::string(ranks) != "1") {
    throw bad_request("mpirun", "this build has no MPI; install libopenmpi-dev and build again");
  }
}
Ranks::~Ranks() = default;
uint32_t Ranks::count() const { return 1; }
bool Ranks::leads() const { return true; }
size_t Ranks::threads(size_t asked_for) const { return asked_for; }
std::unique_ptr<Fleet> Ranks::lead(std::unique_ptr<LocalFleet> own, const Config&, const std::string&) {
  return own;
}
void Ranks::serve(size_t) {}

}  // namespace subfleet
