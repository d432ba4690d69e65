#pragma once

#include <cstdint>

namespace subfleet::flower {

// Bytes of a connection, everything above TCP included: TLS, headers, contents.
struct ByteCount {
  uint64_t down = 0, up = 0;
  ByteCount& operator+=(const ByteCount& other) {
    down += other.down;
    up += other.up;
    return *this;
  }
};

// What has gone through a TCP socket so far, as the kernel counts it; sent twice counts once.
ByteCount socket_bytes(int socket);

}  // namespace subfleet::flower
