#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fleet/flower/socket_bytes.h"

namespace subfleet::flower {

// The outcome of a request.
struct HttpReply {
  enum class Failure {
    kNone,         // there is a status
    kUnreachable,  // nobody answers: no such host, nothing listens, the connection broke or took too long
    kRefused,      // an unusable answer: a wrong certificate, not HTTP, too large
  };
  Failure failure = Failure::kNone;
  std::string why = {};  // the reason of a failure, in a few words
  long status = 0;
  std::string body = {};
};

// Posts to one server over one connection, which is reopened when it breaks. For one thread at a time.
class HttpClient {
 public:
  struct Options {
    std::string server;        // HOST:PORT
    std::filesystem::path ca;  // who signs the server's certificate; empty: no TLS
    size_t most_reply = 0;     // bytes; longer replies are refused
  };
  explicit HttpClient(const Options& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpReply post(const std::string& path, std::span<const std::string> headers, const std::string& body);

  // Counted at the socket, over all connections.
  ByteCount bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subfleet::flower
