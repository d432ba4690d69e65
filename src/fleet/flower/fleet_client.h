#pragma once

#include <google/protobuf/message_lite.h>

#include <functional>
#include <string>
#include <string_view>

#include "fleet/flower/http_client.h"
#include "fleet/flower/node_key.h"
#include "subfleet/error.h"

namespace subfleet::flower {

// The SuperLink refused a request.
class Refused : public Error {
 public:
  Refused(long status, int code, const std::string& message)
      : Error(Kind::kFailure, message), status_(status), code_(code) {}
  // 401: it does not know the node, or the signature is wrong or old. 403: the run is over.
  long status() const { return status_; }
  int code() const { return code_; }  // Flower's own code; 0 if it gave none

 private:
  long status_;
  int code_;
};

// The SuperLink stayed unreachable until the caller asked to stop.
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

// Sleeps; returns false if the caller asked to stop before the time was over.
bool pause(double seconds, const std::function<bool()>& stop);

// Speaks the Fleet API: signed protobuf requests over HTTP. For one thread at a time.
class FleetClient {
 public:
  struct Options {
    std::string superlink;
    std::filesystem::path ca;
    // Whether to retry when the server answers but the connection fails, for example because only one side
    // uses TLS. Before the first success that means a wrong setting; later it is a passing fault.
    bool retry_tls_errors = true;
    std::function<bool()> stop;                   // true: stop retrying
    std::function<void(const std::string&)> say;  // called when the SuperLink is lost, and when it is back
  };
  FleetClient(Options options, const NodeKey& key);

  // Sends a request until it is answered, with growing pauses. Throws Refused if the SuperLink refuses it,
  // Unreachable if asked to stop meanwhile, and Error if the server cannot be trusted or does not speak this
  // protocol.
  template <typename Response>
  Response call(std::string_view name, const google::protobuf::MessageLite& request) {
    Response response;
    if (!response.ParseFromString(ask(name, request)))
      throw failure(options_.superlink, "does not answer with Flower's messages");
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
