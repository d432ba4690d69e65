#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "subfleet/fleet/remote/remote_cohort.h"
#include "subfleet/fleet/remote/transport.h"
#include "subfleet/local_fleet.h"
#include "subfleet/server/model_texts.h"

namespace subfleet {

struct RemoteOptions {
  uint32_t clients = 0;  // of the whole federation
  Patience patience = {};
};

// A fleet of clients elsewhere, behind a transport. Sends each its job, and adds up the updates as they come:
// sums are exact, so the order of arrival changes nothing and a federation has the bits of a LocalFleet with
// the same data. Nothing that arrives is trusted: an answer that cannot be used costs that client's result
// and no more, and a client that is silent costs at most the deadline.
class RemoteFleet final : public Fleet {
 public:
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
  uint64_t submit(const Cohort& cohort) override;
  std::optional<FinishedJob> next(double seconds) override;
  JobResult cancel(const JobId& id, JobOutcome outcome, const std::string& why) override;
  void abandon() override;
  Patience patience() const override { return options_.patience; }
  Evaluation evaluate(ServerState& state) override { return here_.evaluate(state); }

 private:
  using Out = std::map<uint64_t, JobId>;  // jobs by the numbers of their messages

  JobResult result_of(const JobId& id, const Arrival& arrival);
  // A job has ended: its message is closed, and with its cohort's last job the sum goes to the state.
  FinishedJob end(Out::iterator job, JobResult result);

  Transport& transport_;
  LocalFleet& here_;
  RemoteOptions options_;
  ModelTexts texts_;
  uint64_t tickets_ = 0, messages_ = 0;    // given out so far
  std::map<uint64_t, RemoteCohort> open_;  // by their tickets
  Out out_;
};

}  // namespace subfleet
