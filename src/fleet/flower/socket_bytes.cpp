#include "fleet/flower/socket_bytes.h"

#include <linux/tcp.h>  // the C library's own header lacks the counters
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace subfleet::flower {

ByteCount socket_bytes(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  if (size < offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans)
    return {};  // before Linux 4.19
  return {.down = info.tcpi_bytes_received, .up = info.tcpi_bytes_sent - info.tcpi_bytes_retrans};
}

}  // namespace subfleet::flower
