#include "nn/cuda/example_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/jobs.h"
#include "nn/symbols.h"

namespace subfleet::cuda {
namespace {

constexpr size_t kSlab = size_t{64} << 20;
constexpr size_t kLine = 256;  // bytes that every array begins a multiple of

}  // namespace

void ExampleStore::make_room() {
  if (held_ <= budget_) return;
  clients_.clear();
  slabs_.clear();
  held_ = 0;
}

std::vector<StoredExamples> ExampleStore::of_clients(std::span<const uint32_t> clients,
                                                     const ModelSpec& model, cudaStream_t stream) {
  std::vector<uint32_t> missing;
  std::set<uint32_t>& checked = checked_[needs_of(model)];
  for (const uint32_t client : clients) {
    if (!clients_.contains(client) || !checked.contains(client)) missing.push_back(client);
  }
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());

  std::vector<Examples> read(missing.size());
  pool_.parallel_for(missing.size(), [&](size_t i, size_t) {
    source_.read_train(missing[i], read[i]);
    check(read[i], model, fmt::format("client {}", missing[i]));
  });
  for (size_t i = 0; i < missing.size(); ++i) {
    if (!clients_.contains(missing[i])) clients_[missing[i]] = put(read[i], stream);
  }
  checked.insert(missing.begin(), missing.end());

  std::vector<StoredExamples> found;
  found.reserve(clients.size());
  for (const uint32_t client : clients) found.push_back(clients_.at(client));
  return found;
}

StoredExamples ExampleStore::test_set(const ModelSpec& model, size_t chunk, cudaStream_t stream) {
  const Examples& test = source_.test_set();
  const Needs needs = needs_of(model);
  if (!test_checked_.contains(needs)) check(test, model, "evaluation");
  test_checked_.insert(needs);
  if (test_labels_.size() == 0 && test.count() > 0) {
    const size_t padded = (test.count() + chunk - 1) / chunk * chunk;
    test_inputs_ = Buffer<float>(padded * test.features);
    test_labels_ = Buffer<int32_t>(padded);
    test_inputs_.zero(stream);
    test_labels_.zero(stream);
    test_inputs_.upload(test.inputs, stream);
    test_labels_.upload(test.labels, stream);
  }
  return {test_inputs_.data(), test_labels_.data(), static_cast<uint32_t>(test.count())};
}

ExampleStore::Needs ExampleStore::needs_of(const ModelSpec& model) {
  const LayerSpec& first = model.layers.front();
  return {.features = model.input.size(),
          .classes = class_count(model),
          .symbols = first.type == "embedding" ? first.symbols : 0};
}

void ExampleStore::check(const Examples& examples, const ModelSpec& model, const std::string& whose) const {
  check_examples(examples, model, whose);
  const LayerSpec& first = model.layers.front();
  if (first.type != "embedding") return;
  for (const float value : examples.inputs) symbol_at(value, first.symbols);
}

StoredExamples ExampleStore::put(const Examples& examples, cudaStream_t stream) {
  if (examples.count() == 0) return {};
  const size_t inputs = examples.inputs.size() * sizeof(float);
  const size_t labels = examples.labels.size() * sizeof(int32_t);
  std::byte *to_inputs = room(inputs), *to_labels = room(labels);
  cuda::check(cudaMemcpyAsync(to_inputs, examples.inputs.data(), inputs, cudaMemcpyHostToDevice, stream),
              "copying examples to the GPU");
  cuda::check(cudaMemcpyAsync(to_labels, examples.labels.data(), labels, cudaMemcpyHostToDevice, stream),
              "copying examples to the GPU");
  return {reinterpret_cast<const float*>(to_inputs), reinterpret_cast<const int32_t*>(to_labels),
          static_cast<uint32_t>(examples.count())};
}

std::byte* ExampleStore::room(size_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (slabs_.empty() || used_ + bytes > slabs_.back().size()) {
    slabs_.emplace_back(std::max(kSlab, bytes));
    held_ += slabs_.back().size();
    used_ = 0;
  }
  std::byte* at = slabs_.back().data() + used_;
  used_ += bytes;
  return at;
}

}  // namespace subfleet::cuda
