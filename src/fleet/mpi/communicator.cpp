#include "fleet/mpi/communicator.h"

#include <mpi.h>

#include <algorithm>

namespace subfleet::mpi {
namespace {

constexpr size_t kMostPerCall = size_t{1} << 28;  // MPI counts in int

// Calls body(piece) for pieces that one call of MPI can take.
template <typename T, typename Body>
void in_pieces(std::span<T> values, Body&& body) {
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), kMostPerCall));
    body(piece);
    values = values.subspan(piece.size());
  }
}

}  // namespace

Communicator::Communicator() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &on_this_host_);
  MPI_Comm_free(&host);
}

void Communicator::broadcast_bytes(std::span<std::byte> bytes) const {
  in_pieces(bytes, [](std::span<std::byte> piece) {
    MPI_Bcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  });
}

bool Communicator::all(bool mine) const {
  int least = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least == 1;
}

std::vector<std::vector<std::byte>> Communicator::gather_bytes(std::span<const std::byte> mine) const {
  const auto size = static_cast<int>(mine.size());
  std::vector<int> sizes(static_cast<size_t>(count_)), starts(sizes.size());
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    starts[i] = total;
    total += sizes[i];
  }
  std::vector<std::byte> together(static_cast<size_t>(total));
  MPI_Gatherv(mine.data(), size, MPI_BYTE, together.data(), sizes.data(), starts.data(), MPI_BYTE, 0,
              MPI_COMM_WORLD);
  std::vector<std::vector<std::byte>> all;
  if (rank_ != 0) return all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto first = together.begin() + starts[i];
    all.emplace_back(first, first + sizes[i]);
  }
  return all;
}

std::vector<std::string> Communicator::gather(const std::string& mine) const {
  std::vector<std::string> all;
  for (const std::vector<char>& text : gather(std::vector<char>(mine.begin(), mine.end())))
    all.emplace_back(text.begin(), text.end());
  return all;
}

void Communicator::reduce(std::span<int64_t> values) const {
  in_pieces(values, [this](std::span<int64_t> piece) {
    const void* const from = rank_ == 0 ? MPI_IN_PLACE : piece.data();
    MPI_Reduce(from, piece.data(), static_cast<int>(piece.size()), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  });
}

}  // namespace subfleet::mpi
