#pragma once

#include <google/protobuf/message_lite.h>

#include <functional>
#include <string>
#include <string_view>

#include "fleet/flower/http_client.h"
#include "fleet/flower/node_key.h"
#include "subfleet/error.h"

namespace subfleet::flower {

// The SuperLink answered that it will not do what it was asked.
class Refused : public Error {
 public:
  Refused(long status, int code, const std::string& message)
      : Error(Kind::kFailure, message), status_(status), code_(code) {}
  // 401: it does not know the node, or the signature is wrong or old. 403: the run is over.
  long status() const { return status_; }
  int code() const { return code_; }  // Flower's own; 0: none

 private:
  long status_;
  int code_;
};

// The SuperLink could not be reached until the caller was asked to stop.
class Unreachable : public Error {
 public:
  using Error::Error;
};

// Pauses that double from a tenth of a second up to ten seconds.
class GrowingPause {
 public:
  double next() {
    const double now = next_;
    next_ = next_ < 5 ? 2 * next_ : 10;
    return now;
  }

 private:
  double next_ = 0.1;
};

// Sleeps so long, or until the caller is asked to stop; then false.
bool pause(double seconds, const std::function<bool()>& stop);

// Speaks the Fleet API: signed requests of protobuf over HTTP. One thread at a time.
class FleetClient {
 public:
  struct Options {
    std::string superlink;
    std::filesystem::path ca;
    // Whether to retry when the server answers but the two cannot talk, as when only one of them uses TLS.
    // Before the first success this is a wrong setting; later it is a fault that passes.
    bool retry_tls_errors = true;
    std::function<bool()> stop;                   // ends what would try again
    std::function<void(const std::string&)> say;  // told when the SuperLink is gone, and back
  };
  FleetClient(Options options, const NodeKey& key);

  // Asks until there is an answer, with growing pauses. Throws Refused for one that is none, Unreachable when
  // asked to stop meanwhile, and Error for a server that must not or cannot be talked to.
  template <typename Response>
  Response call(std::string_view name, const google::protobuf::MessageLite& request) {
    Response response;
    if (!response.ParseFromString(ask(name, request)))
      throw failure(options_.superlink, "answers with something else than Flower's messages");
    return response;
  }

  ByteCount bytes() const { return http_.bytes(); }

 private:
  std::string ask(std::string_view name, const google::protobuf::MessageLite& request);
  HttpReply post(std::string_view name, const std::string& body);

  Options options_;
  const NodeKey& key_;
  HttpClient http_;
};

}  // namespace subfleet::flower
