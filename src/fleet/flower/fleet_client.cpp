#include "fleet/flower/fleet_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "subfleet/base/text.h"

namespace subfleet::flower {
namespace {

// Chunks of arrays are the largest replies: 5 MiB each.
constexpr size_t kMostReply = size_t{16} << 20;
constexpr int kRefusedTries = 3;
constexpr size_t kMostWords = 200;

// What the body of a refusal says: {"code": 2004, "detail": "Failed to activate SuperNode."}
Refused refusal(std::string_view superlink, std::string_view name, const HttpReply& reply) {
  const auto json = nlohmann::json::parse(reply.body, nullptr, false);
  std::string words;
  int code = 0;
  if (json.is_object()) {
    if (const auto at = json.find("detail"); at != json.end() && at->is_string())
      words = at->get<std::string>();
    if (const auto at = json.find("code"); at != json.end() && at->is_number_integer()) code = at->get<int>();
  }
  words = clip_text(one_line(words.empty() ? reply.body : words), kMostWords);
  return {reply.status, code,
          fmt::format("{}: refuses {} (HTTP {}): {}", superlink, name, reply.status, words)};
}

bool is_passing(long status) { return status >= 500 || status == 408 || status == 429; }

}  // namespace

bool pause(double seconds, const std::function<bool()>& stop) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!stop()) {
    const std::chrono::duration<double> left = end - Clock::now();
    if (left.count() <= 0) return true;
    std::this_thread::sleep_for(std::min(left, std::chrono::duration<double>(0.05)));
  }
  return false;
}

FleetClient::FleetClient(Options options, const NodeKey& key)
    : options_(std::move(options)),
      key_(key),
      http_({.server = options_.superlink, .ca = options_.ca, .most_reply = kMostReply}) {}

HttpReply FleetClient::post(std::string_view name, const std::string& body) {
  const std::string time = iso_time(unix_time());
  const std::array<std::string, 6> headers{"content-type: application/protobuf",
                                           "accept: application/protobuf",
                                           "expect:",  // send at once, however long
                                           "flwr-public-key: " + base64(key_.public_pem()),
                                           "flwr-timestamp: " + time,
                                           "flwr-signature: " + base64(key_.sign(time))};
  return http_.post(fmt::format("/v1/fleet/{}", name), headers, body);
}

std::string FleetClient::ask(std::string_view name, const google::protobuf::MessageLite& request) {
  const std::string body = request.SerializeAsString();
  GrowingPause pauses;
  for (int tries = 1;; ++tries) {
    HttpReply reply = post(name, body);
    if (reply.failure == HttpReply::Failure::kNone && !is_passing(reply.status)) {
      if (tries > 1) options_.say(fmt::format("{} answers again", options_.superlink));
      if (reply.status != 200) throw refusal(options_.superlink, name, reply);
      return std::move(reply.body);
    }
    const std::string why = reply.failure == HttpReply::Failure::kNone ? fmt::format("HTTP {}", reply.status)
                                                                       : one_line(reply.why);
    if (reply.failure == HttpReply::Failure::kRefused && !options_.retry_tls_errors &&
        tries >= kRefusedTries) {
      throw failure(options_.superlink,
                    fmt::format("cannot connect {} TLS: {}", options_.ca.empty() ? "without" : "with", why));
    }
    if (tries == 1)
      options_.say(fmt::format("no answer from {} ({}); trying again", options_.superlink, why));
    if (!pause(pauses.next(), options_.stop)) {
      throw Unreachable(Error::Kind::kFailure,
                        fmt::format("{}: cannot be reached ({})", options_.superlink, why));
    }
  }
}

}  // namespace subfleet::flower
