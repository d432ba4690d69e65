#include "fleet/mpi/shared_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "server/message.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"

namespace subfleet::mpi {
namespace {

// A job as it is told to the rank that trains it.
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

// What goes before the weights of a cohort.
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
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.empty() ? "failed" : what;
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
    if (!said[rank].empty()) throw RankFailed(failure(fmt::format("rank {}", rank), said[rank]));
  }
  return false;
}

std::vector<std::vector<JobResult>> lead_training(const Communicator& ranks, LocalFleet& own,
                                                  std::span<const Cohort> cohorts) {
  Command command = Command::kTrain;
  ranks.broadcast(command);
  uint64_t count = cohorts.size();
  ranks.broadcast(count);

  std::vector<double> costs;
  for (const Cohort& cohort : cohorts) {
    for (const Job& job : cohort.jobs) {
      costs.push_back(static_cast<double>(own.data().train_samples(job.client)) *
                      static_cast<double>(job.submodel->size()));
    }
  }
  const std::vector<uint32_t> owners = deal_jobs(costs, static_cast<uint32_t>(ranks.count()));
  std::vector<std::vector<Job>> mine(cohorts.size());
  size_t next = 0;
  for (size_t i = 0; i < cohorts.size(); ++i) {
    CohortNotice notice{
        .names = encode(job_message(cohorts[i])), .jobs = {}, .squared_norms = cohorts[i].squared_norms};
    for (const Job& job : cohorts[i].jobs) {
      notice.jobs.push_back({job.client, job.row, owners[next]});
      if (owners[next++] == 0) mine[i].push_back(job);
    }
    broadcast(ranks, notice);
    const std::span<const float> weights = cohorts[i].state->weights();
    std::vector<float> sent(weights.begin(), weights.end());
    ranks.broadcast_values(sent);
  }

  std::vector<Cohort> share(cohorts.begin(), cohorts.end());
  for (size_t i = 0; i < share.size(); ++i) share[i].jobs = mine[i];
  std::vector<std::vector<JobResult>> results;
  agree(ranks, fault_of([&] { results = own.train(share); }));

  const std::vector<std::vector<FlatResult>> told = ranks.gather(flatten_all(results));
  std::vector<size_t> taken(told.size(), 0);  // of each rank's results
  std::vector<std::vector<JobResult>> all;
  next = 0;
  for (const Cohort& cohort : cohorts) {
    auto& of_cohort = all.emplace_back();
    for (size_t job = 0; job < cohort.jobs.size(); ++job) {
      const uint32_t owner = owners[next++];
      of_cohort.push_back(unflatten(told[owner].at(taken[owner]++)));
    }
  }
  next = 0;
  for (size_t i = 0; i < cohorts.size(); ++i) {
    cohorts[i].state->with_sum([&](PartialSum& sum) {
      ranks.reduce(sum.sums());
      // Who held what follows from the sub-models and the results, so it need not travel.
      for (size_t job = 0; job < cohorts[i].jobs.size(); ++job) {
        const JobResult& result = all[i][job];
        if (owners[next++] != 0 && result.outcome == JobOutcome::kTrained)
          sum.add_holder(*cohorts[i].jobs[job].submodel, result.examples);
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
  const std::span<const float> weights = state.weights();
  std::vector<float> sent(weights.begin(), weights.end());
  ranks.broadcast_values(sent);
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
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& mine = slots_[slot];
  if (!mine.state || !(mine.model == model)) {
    mine.model = model;
    mine.state = own_.make_state(model, {.optimizer = "fedavg"});  // only rank 0 steps
  }
  return *mine.state;
}

void Worker::train() {
  uint64_t count = 0;
  ranks_.broadcast(count);
  std::vector<Cohort> cohorts(count);
  std::vector<std::vector<SubModel>> submodels(count);
  std::vector<std::vector<Job>> jobs(count);
  std::string fault;
  for (size_t i = 0; i < count; ++i) {
    CohortNotice notice;
    broadcast(ranks_, notice);
    const JobMessage names = decode_job(notice.names);
    ServerState& state = state_for(i, named_model(names.model));
    std::vector<float> weights(slots_[i].state->weights().size());
    ranks_.broadcast_values(weights);
    state.set_weights(weights);
    state.clear_sum();
    if (fault.empty()) {
      fault = fault_of([&] {
        const RoundMasks masks(slots_[i].model, names.code, names.seed, names.draw, names.rows);
        submodels[i].reserve(notice.jobs.size());
        for (const DealtJob& job : notice.jobs) {
          if (job.rank != static_cast<uint32_t>(ranks_.rank())) continue;
          submodels[i].emplace_back(slots_[i].model, masks.kept(job.row, job.client));
          jobs[i].push_back({.client = job.client, .row = job.row, .submodel = &submodels[i].back()});
        }
        cohorts[i] = cohort_of(names);
        cohorts[i].model = &slots_[i].model;
        cohorts[i].jobs = jobs[i];
        cohorts[i].squared_norms = notice.squared_norms;
        cohorts[i].state = &state;
      });
    }
  }
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
  std::vector<float> weights(state.weights().size());
  ranks_.broadcast_values(weights);
  state.set_weights(weights);
  const auto [first, last] =
      chunk_share(chunks, static_cast<uint32_t>(ranks_.rank()), static_cast<uint32_t>(ranks_.count()));
  std::vector<Evaluation> mine;
  const std::string fault =
      fault_of([&, first = first, last = last] { mine = own_.evaluate(state, first, last - first); });
  if (agree(ranks_, fault)) ranks_.gather(mine);
}

}  // namespace subfleet::mpi
