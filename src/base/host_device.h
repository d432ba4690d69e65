#pragma once

// Marks a function that both the host and GPU kernels call.
#ifdef __CUDACC__
#define SUBFLEET_HOST_DEVICE __host__ __device__
#else
#define SUBFLEET_HOST_DEVICE
#endif
