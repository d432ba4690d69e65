#include "subfleet/fleet/remote/node_data.h"

#include <fmt/format.h>

#include <utility>

#include "subfleet/error.h"

namespace subfleet {

NodeData::NodeData(SplitFederation data, std::optional<ClientRange> clients)
    : data_(std::move(data)), clients_(clients) {
  const uint32_t count = data_.clients();
  if (!clients_ && count != 1) {
    throw bad_request("node", fmt::format("the data have {} clients; --client N or --clients A-B says whose "
                                          "this node has (0 to {})",
                                          count, count - 1));
  }
  if (clients_ && (clients_->first > clients_->last || clients_->last >= count)) {
    throw bad_request("node", fmt::format("there are no clients {} to {} in the data, which have 0 to {}",
                                          clients_->first, clients_->last, count - 1));
  }
}

std::vector<uint32_t> NodeData::clients() const {
  std::vector<uint32_t> numbers;
  if (!clients_) return numbers;
  for (uint32_t client = clients_->first; client <= clients_->last; ++client) numbers.push_back(client);
  return numbers;
}

std::vector<uint32_t> NodeData::examples() const {
  if (!clients_) return {data_.train_samples(0)};
  std::vector<uint32_t> counts;
  for (const uint32_t client : clients()) counts.push_back(data_.train_samples(client));
  return counts;
}

void NodeData::read_train(uint32_t client, Examples& into) const {
  if (!clients_) return data_.read_train(0, into);
  if (client < clients_->first || client > clients_->last) {
    throw bad_request("job", fmt::format("client {} is not one of this node's, {} to {}", client,
                                         clients_->first, clients_->last));
  }
  data_.read_train(client, into);
}

}  // namespace subfleet
