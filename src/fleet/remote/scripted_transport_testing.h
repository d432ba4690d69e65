#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "subfleet/fleet/remote/transport.h"

namespace subfleet {

// A transport of which a test says what every client does: given its job, it makes the arrivals, of which
// there may be none or several. They are delivered in the order of the jobs, or the other way round.
class ScriptedTransport final : public Transport {
 public:
  using Client = std::function<std::vector<Arrival>(const Outgoing& message)>;
  explicit ScriptedTransport(Client client, bool reversed = false)
      : client_(std::move(client)), reversed_(reversed) {}

  void send(const Outgoing& message) override {
    Traffic& moved = moved_[message.number];
    moved.down = message.message.size();
    for (Arrival& arrival : client_(message)) {
      arrival.number = message.number;
      moved.up += arrival.reply.size();
      arrivals_.push_back(std::move(arrival));
    }
  }

  std::optional<Arrival> next(double) override {
    if (arrivals_.empty()) return std::nullopt;
    Arrival arrival = std::move(reversed_ ? arrivals_.back() : arrivals_.front());
    reversed_ ? arrivals_.pop_back() : arrivals_.pop_front();
    return arrival;
  }

  Traffic close(uint64_t number) override {
    std::erase_if(arrivals_, [&](const Arrival& arrival) { return arrival.number == number; });
    return moved_.extract(number).mapped();
  }

  void on_result(uint64_t, const JobResult& result) override { results.push_back(result); }

  std::vector<JobResult> results;

 private:
  Client client_;
  bool reversed_;
  std::deque<Arrival> arrivals_;
  std::map<uint64_t, Traffic> moved_;  // by the numbers of the messages that are open
};

}  // namespace subfleet
