#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace subfleet::mpi {

// MPI's collective calls for values of ours, between all ranks of the program. Every rank makes the same
// calls in the same order. Rank 0 sends what is broadcast and gets what is gathered.
class Communicator {
 public:
  Communicator();

  int rank() const { return rank_; }
  int count() const { return count_; }
  int ranks_on_this_host() const { return on_this_host_; }

  template <typename T>
  void broadcast(T& value) const requires std::is_trivially_copyable_v<T> {
    broadcast_bytes(std::as_writable_bytes(std::span(&value, 1)));
  }
  // For values whose length every rank knows.
  void broadcast_values(std::span<float> values) const { broadcast_bytes(std::as_writable_bytes(values)); }
  template <typename Values>
  void broadcast_list(Values& values) const {
    uint64_t size = values.size();
    broadcast(size);
    values.resize(size);
    broadcast_bytes(std::as_writable_bytes(std::span(values)));
  }

  // Whether `mine` is true on every rank.
  bool all(bool mine) const;

  // One list per rank, in the order of the ranks; nothing on ranks other than 0.
  template <typename T>
  std::vector<std::vector<T>> gather(
      const std::vector<T>& mine) const requires std::is_trivially_copyable_v<T> {
    std::vector<std::vector<T>> all;
    for (const std::vector<std::byte>& bytes : gather_bytes(std::as_bytes(std::span(mine)))) {
      all.emplace_back(bytes.size() / sizeof(T));
      std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(all.back())).begin());
    }
    return all;
  }
  std::vector<std::string> gather(const std::string& mine) const;

  // Exact sums over all ranks. Rank 0 gets them in place of its own values.
  void reduce(std::span<int64_t> values) const;

 private:
  void broadcast_bytes(std::span<std::byte> bytes) const;
  std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> mine) const;

  int rank_ = 0, count_ = 1, on_this_host_ = 1;
};

}  // namespace subfleet::mpi
