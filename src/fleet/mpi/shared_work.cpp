#include "fleet/mpi/shared_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <new>
#include <numeric>

#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "subfleet/server/message.h"

namespace subfleet::mpi {
namespace {

// The first character of an encoded fault is its kind.
constexpr auto kRequest = "r", kFailure = "f";

// What the rank that trains a job is sent.
struct DealtJob {
  uint32_t client = 0, row = 0, rank = 0;
};

// A result without the pointers of a text.
struct FlatResult {
  JobOutcome outcome = JobOutcome::kLost;
  uint32_t examples = 0;
  double loss = 0, accuracy = 0, squared_norm = 0;
  uint64_t bytes_down = 0, bytes_up = 0;
  std::array<char, 120> why{};
};

FlatResult flatten(const JobResult& result) {
  FlatResult flat{.outcome = result.outcome,
                  .examples = result.examples,
                  .loss = result.loss,
                  .accuracy = result.accuracy,
                  .squared_norm = result.squared_norm,
                  .bytes_down = result.bytes_down,
                  .bytes_up = result.bytes_up};
  result.why.copy(flat.why.data(), flat.why.size() - 1);
  return flat;
}

JobResult unflatten(const FlatResult& flat) {
  return {.outcome = flat.outcome,
          .why = flat.why.data(),
          .examples = flat.examples,
          .loss = flat.loss,
          .accuracy = flat.accuracy,
          .squared_norm = flat.squared_norm,
          .bytes_down = flat.bytes_down,
          .bytes_up = flat.bytes_up};
}

// What rank 0 sends about a cohort before its weights.
struct CohortNotice {
  std::vector<std::byte> names;  // a JobMessage
  std::vector<DealtJob> jobs;
  bool squared_norms = false;
};

void broadcast(const Communicator& ranks, CohortNotice& notice) {
  ranks.broadcast_list(notice.names);
  ranks.broadcast_list(notice.jobs);
  ranks.broadcast(notice.squared_norms);
}

void send_weights(const Communicator& ranks, std::span<const float> weights) {
  std::vector<float> sent(weights.begin(), weights.end());
  ranks.broadcast_values(sent);
}

void receive_weights(const Communicator& ranks, ServerState& state) {
  std::vector<float> weights(parameter_count(state.model()));
  ranks.broadcast_values(weights);
  state.set_weights(weights);
}

// The rank of every job of every cohort, all of them dealt together.
std::vector<std::vector<uint32_t>> deal(const LocalFleet& own, std::span<const Cohort> cohorts, int ranks) {
  std::vector<double> costs;
  for (const Cohort& cohort : cohorts) {
    for (const Job& job : cohort.jobs) {
      costs.push_back(static_cast<double>(own.data().train_samples(job.client)) *
                      static_cast<double>(job.submodel->size()));
    }
  }
  const std::vector<uint32_t> owners = deal_jobs(costs, static_cast<uint32_t>(ranks));
  std::vector<std::vector<uint32_t>> by_cohort;
  for (auto next = owners.begin(); const Cohort& cohort : cohorts) {
    by_cohort.emplace_back(next, next + static_cast<ptrdiff_t>(cohort.jobs.size()));
    next += static_cast<ptrdiff_t>(cohort.jobs.size());
  }
  return by_cohort;
}

// The jobs of a cohort that rank 0 trains itself.
std::vector<Job> own_jobs(const Cohort& cohort, const std::vector<uint32_t>& owners) {
  std::vector<Job> own;
  for (size_t i = 0; i < cohort.jobs.size(); ++i) {
    if (owners[i] == 0) own.push_back(cohort.jobs[i]);
  }
  return own;
}

std::vector<FlatResult> flatten_all(const std::vector<std::vector<JobResult>>& results) {
  std::vector<FlatResult> flat;
  for (const auto& of_cohort : results) {
    for (const JobResult& result : of_cohort) flat.push_back(flatten(result));
  }
  return flat;
}

}  // namespace

std::string fault_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return (error.kind() == Error::Kind::kRequest ? kRequest : kFailure) + std::string(error.what());
  } catch (const std::bad_alloc&) {
    return std::string(kFailure) + "out of memory";
  } catch (const std::exception& error) {
    return std::string(kFailure) + error.what();
  }
}

std::vector<uint32_t> deal_jobs(std::span<const double> costs, uint32_t ranks) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  std::vector<double> load(ranks, 0.0);
  std::vector<uint32_t> owners(costs.size());
  for (const size_t job : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owners[job] = static_cast<uint32_t>(least - load.begin());
    *least += costs[job];
  }
  return owners;
}

std::pair<size_t, size_t> chunk_share(size_t chunks, uint32_t rank, uint32_t ranks) {
  return {chunks * rank / ranks, chunks * (rank + 1) / ranks};
}

bool agree(const Communicator& ranks, const std::string& mine) {
  if (ranks.all(mine.empty())) return true;
  const std::vector<std::string> said = ranks.gather(mine);
  for (size_t rank = 0; rank < said.size(); ++rank) {
    if (said[rank].empty()) continue;
    const std::string who = fmt::format("rank {}", rank), why = said[rank].substr(1);
    throw RankFailed(said[rank].front() == kRequest[0] ? bad_request(who, why) : failure(who, why));
  }
  return false;
}

std::vector<std::vector<JobResult>> lead_training(const Communicator& ranks, LocalFleet& own,
                                                  std::span<const Cohort> cohorts) {
  Command command = Command::kTrain;
  uint64_t count = cohorts.size();
  ranks.broadcast(command);
  ranks.broadcast(count);
  const std::vector<std::vector<uint32_t>> owners = deal(own, cohorts, ranks.count());
  std::vector<std::vector<Job>> mine;
  std::vector<Cohort> share(cohorts.begin(), cohorts.end());
  for (size_t i = 0; i < cohorts.size(); ++i) {
    const Cohort& cohort = cohorts[i];
    CohortNotice notice{
        .names = encode(job_message(cohort)), .jobs = {}, .squared_norms = cohort.squared_norms};
    for (size_t job = 0; job < cohort.jobs.size(); ++job)
      notice.jobs.push_back({cohort.jobs[job].client, cohort.jobs[job].row, owners[i][job]});
    broadcast(ranks, notice);
    send_weights(ranks, cohort.state->weights());
    mine.push_back(own_jobs(cohort, owners[i]));
    share[i].jobs = mine.back();
  }
  std::vector<std::vector<JobResult>> results;
  agree(ranks, fault_of([&] { results = own.train(share); }));

  // Every rank sends its results in the order of its jobs.
  const std::vector<std::vector<FlatResult>> gathered = ranks.gather(flatten_all(results));
  std::vector<size_t> taken(gathered.size(), 0);
  std::vector<std::vector<JobResult>> all(cohorts.size());
  for (size_t i = 0; i < cohorts.size(); ++i) {
    for (const uint32_t owner : owners[i]) all[i].push_back(unflatten(gathered[owner].at(taken[owner]++)));
    cohorts[i].state->with_sum([&](PartialSum& sum) {
      ranks.reduce(sum.sums());
      // Who held what follows from the sub-models and the results, so it need not travel.
      for (size_t job = 0; job < all[i].size(); ++job) {
        if (owners[i][job] != 0 && all[i][job].outcome == JobOutcome::kTrained)
          sum.add_holder(*cohorts[i].jobs[job].submodel, all[i][job].examples);
      }
    });
  }
  return all;
}

Evaluation lead_evaluation(const Communicator& ranks, LocalFleet& own, ServerState& state) {
  Command command = Command::kEvaluate;
  ranks.broadcast(command);
  uint64_t chunks = own.evaluation_chunks();
  std::string model = model_text(state.model());
  ranks.broadcast(chunks);
  ranks.broadcast_list(model);
  send_weights(ranks, state.tested_weights());
  const auto [first, last] = chunk_share(chunks, 0, static_cast<uint32_t>(ranks.count()));
  std::vector<Evaluation> mine;
  agree(ranks,
        fault_of([&, first = first, last = last] { mine = own.evaluate(state, first, last - first); }));
  Evaluation total;
  for (const std::vector<Evaluation>& share : ranks.gather(mine)) {
    for (const Evaluation& chunk : share) total += chunk;  // in the order of the chunks, as without ranks
  }
  return total;
}

ServerState& Worker::state_for(size_t slot, const ModelSpec& model) {
  if (slot >= states_.size()) states_.resize(slot + 1);
  if (!states_[slot] || !(states_[slot]->model() == model))
    states_[slot] = own_.make_state(model, {.optimizer = "fedavg"});  // only rank 0 steps
  return *states_[slot];
}

// A cohort of rank 0, with this rank's jobs.
struct Worker::Share {
  std::vector<SubModel> submodels;
  std::vector<Job> jobs;
  Cohort cohort;
};

void Worker::train() {
  uint64_t count = 0;
  ranks_.broadcast(count);
  std::deque<Share> shares;
  std::string fault;
  for (size_t i = 0; i < count; ++i) {
    CohortNotice notice;
    broadcast(ranks_, notice);
    const JobMessage names = decode_job(notice.names);
    ServerState& state = state_for(i, named_model(names.model));
    receive_weights(ranks_, state);
    state.clear_sum();
    Share& share = shares.emplace_back();
    if (!fault.empty()) continue;
    fault = fault_of([&] {
      const RoundMasks masks(state.model(), names.code, names.seed, names.draw, names.rows);
      share.submodels.reserve(notice.jobs.size());
      for (const DealtJob& job : notice.jobs) {
        if (job.rank != static_cast<uint32_t>(ranks_.rank())) continue;
        share.submodels.push_back(masks.submodel(job.row, job.client));
        share.jobs.push_back({.client = job.client, .row = job.row, .submodel = &share.submodels.back()});
      }
      share.cohort = cohort_of(names);
      share.cohort.model = &state.model();
      share.cohort.jobs = share.jobs;
      share.cohort.squared_norms = notice.squared_norms;
      share.cohort.state = &state;
    });
  }
  std::vector<Cohort> cohorts;
  for (const Share& share : shares) cohorts.push_back(share.cohort);
  std::vector<std::vector<JobResult>> results;
  if (fault.empty()) fault = fault_of([&] { results = own_.train(cohorts); });
  if (!agree(ranks_, fault)) return;
  ranks_.gather(flatten_all(results));
  for (const Cohort& cohort : cohorts)
    cohort.state->with_sum([&](PartialSum& sum) { ranks_.reduce(sum.sums()); });
}

void Worker::evaluate() {
  uint64_t chunks = 0;
  ranks_.broadcast(chunks);
  std::string model;
  ranks_.broadcast_list(model);
  ServerState& state = state_for(0, named_model(model));
  receive_weights(ranks_, state);
  const auto [first, last] =
      chunk_share(chunks, static_cast<uint32_t>(ranks_.rank()), static_cast<uint32_t>(ranks_.count()));
  std::vector<Evaluation> mine;
  const std::string fault =
      fault_of([&, first = first, last = last] { mine = own_.evaluate(state, first, last - first); });
  if (agree(ranks_, fault)) ranks_.gather(mine);
}

}  // namespace subfleet::mpi
