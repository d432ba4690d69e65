#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "fleet/remote/transport.h"

namespace subfleet {

// A transport of which a test says what every client does: given its job, it makes the arrivals, of which
// there may be none or several. They are delivered in the order of the jobs, or the other way round.
class ScriptedTransport final : public Transport {
 public:
  using Client = std::function<std::vector<Arrival>(const RemoteJob& job)>;
  explicit ScriptedTransport(Client client, bool reversed = false)
      : client_(std::move(client)), reversed_(reversed) {}

  void send(const RemoteJob& job) override {
    moved_.push_back({.down = job.message.size(), .up = 0});
    for (Arrival& arrival : client_(job)) {
      arrival.job = moved_.size() - 1;
      moved_.back().up += arrival.reply.size();
      arrivals_.push_back(std::move(arrival));
    }
  }

  std::optional<Arrival> next(double) override {
    ++asked;
    if (arrivals_.empty()) return std::nullopt;
    Arrival arrival = std::move(reversed_ ? arrivals_.back() : arrivals_.front());
    reversed_ ? arrivals_.pop_back() : arrivals_.pop_front();
    return arrival;
  }

  std::vector<Traffic> finish() override {
    arrivals_.clear();
    return std::exchange(moved_, {});
  }

  void on_result(size_t, const JobResult& result) override { results.push_back(result); }

  std::vector<JobResult> results;  // in the order of on_result()
  size_t asked = 0;

 private:
  Client client_;
  bool reversed_;
  std::deque<Arrival> arrivals_;
  std::vector<Traffic> moved_;
};

}  // namespace subfleet
