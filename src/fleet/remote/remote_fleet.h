#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fleet/remote/transport.h"
#include "subfleet/local_fleet.h"

namespace subfleet {

struct RemoteOptions {
  uint32_t clients = 0;    // of the whole federation
  double deadline = 0;     // seconds that clients have for a round; 0: as long as they take
  double min_replies = 0;  // the share of a round's clients that have to be trained
};

// A fleet of clients elsewhere, behind a transport. Sends each its job, and adds up the updates as they come:
// sums are exact, so the order of arrival changes nothing and a federation has the bits of a LocalFleet with
// the same data. Nothing that arrives is trusted: an answer that cannot be used costs that client's result
// and no more, and a client that is silent costs at most the deadline.
//
// If fewer than `min_replies` of the clients are trained, those that are missing are asked again with the
// same jobs, once the deadline has passed, and their updates are added to what is there: the round remains
// the same round. After kAttempts train() throws Error, and the run can go on later from its checkpoint.
class RemoteFleet final : public Fleet {
 public:
  static constexpr int kAttempts = 3;

  // `here` makes the states and has the test examples; none of its clients is asked to train. Both outlive
  // the fleet.
  RemoteFleet(Transport& transport, LocalFleet& here, const RemoteOptions& options);

  uint32_t clients() const override { return options_.clients; }
  uint32_t classes() const override { return here_.classes(); }
  Shape input() const override { return here_.input(); }
  uint64_t data_fingerprint() const override { return here_.data_fingerprint(); }
  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    return here_.make_state(model, options);
  }
  std::vector<std::vector<JobResult>> train(std::span<const Cohort> cohorts) override;
  Evaluation evaluate(ServerState& state) override { return here_.evaluate(state); }

 private:
  Transport& transport_;
  LocalFleet& here_;
  RemoteOptions options_;
};

}  // namespace subfleet
