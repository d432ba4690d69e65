#pragma once

#include <cstdint>

namespace subfleet::flower {

// Bytes of a connection, including everything above TCP: TLS, headers, contents.
struct ByteCount {
  uint64_t down = 0, up = 0;
  ByteCount& operator+=(const ByteCount& other) {
    down += other.down;
    up += other.up;
    return *this;
  }
};

// What has passed a TCP socket so far, as the kernel counts it. Retransmissions do not count.
ByteCount socket_bytes(int socket);

}  // namespace subfleet::flower
