#include "subfleet/fleet/ranks.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "fleet/mpi/communicator.h"
#include "fleet/mpi/shared_work.h"
#include "subfleet/base/mpirun.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

struct Ranks::State {
  mpi::Communicator ranks;
  bool others_listen = true;  // for a command; if not, something broke in the middle of one
};

namespace {

using mpi::Command;

// What all ranks do at once. After an error that they agree on, the others listen again.
template <typename Work>
auto together(bool& others_listen, const Work& work) {
  others_listen = false;
  try {
    auto result = work();
    others_listen = true;
    return result;
  } catch (const mpi::RankFailed&) {
    others_listen = true;
    throw;
  }
}

// The fleet of all ranks, seen from rank 0.
class MpiFleet final : public BatchFleet {
 public:
  MpiFleet(mpi::Communicator& ranks, bool& others_listen, std::unique_ptr<LocalFleet> own)
      : ranks_(ranks), others_listen_(others_listen), own_(std::move(own)) {}

  uint32_t clients() const override { return own_->clients(); }
  uint32_t classes() const override { return own_->classes(); }
  Shape input() const override { return own_->input(); }
  uint64_t data_fingerprint() const override { return own_->data_fingerprint(); }
  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    return own_->make_state(model, options);
  }

  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override {
    for (const Cohort& cohort : cohorts) {
      const auto weights = static_cast<double>(parameter_count(*cohort.model));
      bytes_reduced_ += weights * sizeof(int64_t);
      bytes_sent_ += weights * sizeof(float);
    }
    ++rounds_;
    return together(others_listen_, [&] { return mpi::lead_training(ranks_, *own_, cohorts); });
  }

  Evaluation evaluate(ServerState& state) override {
    return together(others_listen_, [&] { return mpi::lead_evaluation(ranks_, *own_, state); });
  }

  std::string traffic() const override {
    const double rounds = std::max<double>(1, rounds_);
    return fmt::format("{} ranks; per round, each gets {} of weights and gives {} of sums", ranks_.count(),
                       human_bytes(bytes_sent_ / rounds), human_bytes(bytes_reduced_ / rounds));
  }

 private:
  mpi::Communicator& ranks_;
  bool& others_listen_;
  std::unique_ptr<LocalFleet> own_;
  double bytes_reduced_ = 0, bytes_sent_ = 0;
  uint32_t rounds_ = 0;
};

}  // namespace

Ranks::Ranks(int& argc, char**& argv) {
  if (!started_by_mpirun()) return;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  state_ = std::make_unique<State>();
}

Ranks::~Ranks() {
  if (!state_) return;
  if (leads() && !state_->others_listen) {
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  // The others take it in serve(), or here if they never served.
  Command command = Command::kStop;
  if (leads() || state_->others_listen) state_->ranks.broadcast(command);
  MPI_Finalize();
}

uint32_t Ranks::count() const { return state_ ? static_cast<uint32_t>(state_->ranks.count()) : 1; }
bool Ranks::leads() const { return !state_ || state_->ranks.rank() == 0; }

size_t Ranks::threads(size_t asked_for) const {
  if (asked_for > 0 || !state_) return asked_for;
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) == 0 && static_cast<size_t>(CPU_COUNT(&mine)) < cores)
    return static_cast<size_t>(CPU_COUNT(&mine));  // mpirun has bound it to these
  return std::max<size_t>(1, cores / static_cast<size_t>(state_->ranks.ranks_on_this_host()));
}

std::unique_ptr<Fleet> Ranks::lead(std::unique_ptr<LocalFleet> own, const Config& config,
                                   const std::string& device) {
  if (count() == 1) return own;
  const mpi::Communicator& ranks = state_->ranks;
  Command command = Command::kOpen;
  std::string text = to_toml(config), name = device;
  uint64_t fingerprint = own->data_fingerprint();
  together(state_->others_listen, [&] {
    ranks.broadcast(command);
    ranks.broadcast_list(text);
    ranks.broadcast_list(name);
    ranks.broadcast(fingerprint);
    return mpi::agree(ranks, "");
  });
  return std::make_unique<MpiFleet>(state_->ranks, state_->others_listen, std::move(own));
}

void Ranks::serve(size_t threads) {
  // Rank 0 decides when to stop; it hears the same signals.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  const mpi::Communicator& ranks = state_->ranks;
  try {
    ThreadPool pool(this->threads(threads));
    std::optional<LocalFleet> own;
    std::optional<mpi::Worker> worker;
    for (Command command = Command::kOpen; command != Command::kStop;) {
      ranks.broadcast(command);
      switch (command) {
        case Command::kOpen: {
          std::string text, device;
          uint64_t fingerprint = 0;
          ranks.broadcast_list(text);
          ranks.broadcast_list(device);
          ranks.broadcast(fingerprint);
          mpi::agree(ranks, mpi::fault_of([&] {
                       const Config config = parse_config(text, "rank 0's configuration");
                       worker.reset();
                       own.emplace(open_split_federation(config.data), device, pool, config.run.eval_samples);
                       if (own->data_fingerprint() != fingerprint)
                         throw bad_request("data.path", "holds other data than on rank 0");
                       worker.emplace(ranks, *own);
                     }));
          break;
        }
        case Command::kTrain:
          worker->train();
          break;
        case Command::kEvaluate:
          worker->evaluate();
          break;
        case Command::kStop:
          break;
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "subfleet: rank {}: {}\n", ranks.rank(), error.what());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  state_->others_listen = false;  // it is over, and this rank knows
}

}  // namespace subfleet
