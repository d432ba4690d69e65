#pragma once

namespace subfleet {

// Whether mpirun, or another launcher of MPI's, has started this process.
bool started_by_mpirun();

}  // namespace subfleet
