#pragma once

// Before a function that GPU kernels call as well as the host.
#ifdef __CUDACC__
#define SUBFLEET_HOST_DEVICE __host__ __device__
#else
#define SUBFLEET_HOST_DEVICE
#endif
