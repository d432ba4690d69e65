#include "data/sources.h"
#include "subfleet/error.h"

namespace subfleet {

std::unique_ptr<Federation> open_hdf5(const DataOptions&) {
  throw bad_request("data.source hdf5", "this build has no HDF5; install libhdf5-dev and build again");
}

}  // namespace subfleet
