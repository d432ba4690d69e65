#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "subfleet/config.h"
#include "subfleet/local_fleet.h"

namespace subfleet {

// The processes that mpirun has started together. Rank 0 leads: it runs the command, writes and shows; the
// others serve it with their share of every round's jobs and tests. Without mpirun, or built without MPI
// (no_mpi/), there is rank 0 alone.
class Ranks {
 public:
  // Joins the other processes. Give main's arguments; make one of it, and leave main by returning.
  Ranks(int& argc, char**& argv);
  // Rank 0 tells the others that it is over.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  uint32_t count() const;
  bool leads() const;  // rank 0

  // How many threads this process should take: as many as were asked for, or with 0 its part of the cores
  // that it shares with other ranks.
  size_t threads(size_t asked_for) const;

  // Rank 0: the fleet of all ranks. `own` is its share of it; the others open the same data by `config`. The
  // ranks outlive the fleet. Throws Error naming the rank that cannot.
  std::unique_ptr<Fleet> lead(std::unique_ptr<LocalFleet> own, const Config& config,
                              const std::string& device);

  // Every other rank: does what rank 0 asks for until the end. Errors are reported to rank 0, never thrown.
  void serve(size_t threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subfleet
