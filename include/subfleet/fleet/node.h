#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "subfleet/fleet/remote/node_data.h"

namespace subfleet {

// How a node reaches its server, a stock SuperLink of Flower.
struct NodeOptions {
  std::string superlink;      // HOST:PORT
  std::filesystem::path ca;   // who signs the SuperLink's certificate; empty: no TLS
  std::filesystem::path key;  // the private key that it is registered with; empty: it registers by itself
  double heartbeat = 30;      // seconds from one sign of life to the next, 10 to 1800
  std::string device = "cpu";
  uint32_t threads = 1;   // jobs at once
  uint64_t max_jobs = 0;  // 0: until it is asked to stop
};

struct NodeSummary {
  uint64_t jobs = 0, queries = 0;
  uint64_t refused = 0;                   // messages that were answered with an error
  uint64_t bytes_down = 0, bytes_up = 0;  // counted at the sockets
};

// Callbacks of the program that runs a node. Several threads may call both at once.
struct NodeOwner {
  std::function<bool()> stop;                   // whether it is to end
  std::function<void(const std::string&)> say;  // a line about what happens
};

// Stands for the clients of `data` until asked to stop: registers, sends heartbeats, runs the jobs that the
// SuperLink has for it, and leaves when its replies were fetched. It runs no code that it is sent. If the
// SuperLink cannot be reached, it keeps trying. Throws Error if it is refused, or if this build lacks
// libcurl, OpenSSL or protobuf (no_flower/).
NodeSummary run_node(const NodeOptions& options, const NodeData& data, const NodeOwner& owner);

}  // namespace subfleet
