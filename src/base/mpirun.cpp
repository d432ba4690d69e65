#include "subfleet/base/mpirun.h"

#include <cstdlib>
#include <initializer_list>

namespace subfleet {

bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace subfleet
