#pragma once

#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "nn/cuda/device.h"
#include "subfleet/examples.h"
#include "subfleet/model.h"
#include "subfleet/thread_pool.h"

namespace subfleet::cuda {

// One client's examples on the GPU.
struct StoredExamples {
  const float* inputs = nullptr;
  const int32_t* labels = nullptr;
  uint32_t count = 0;
};

// Examples on the GPU: uploaded when first needed, and kept while there is room.
class ExampleStore {
 public:
  // Keeps about `budget` bytes of clients at most.
  ExampleStore(const ExampleSource& source, ThreadPool& pool, size_t budget)
      : source_(source), pool_(pool), budget_(budget) {}

  // Forgets all clients if they take too much memory.
  void make_room();
  // The examples of each client, in order; valid until make_room(). Throws Error for examples that the model
  // cannot take.
  std::vector<StoredExamples> of_clients(std::span<const uint32_t> clients, const ModelSpec& model,
                                         cudaStream_t stream);
  // The test set, with its memory rounded up to whole chunks of `chunk` examples.
  StoredExamples test_set(const ModelSpec& model, size_t chunk, cudaStream_t stream);

 private:
  // What examples are checked for; it differs between models.
  struct Needs {
    size_t features = 0, classes = 0, symbols = 0;
    auto tie() const { return std::tie(features, classes, symbols); }
    bool operator<(const Needs& other) const { return tie() < other.tie(); }
  };
  static Needs needs_of(const ModelSpec& model);
  void check(const Examples& examples, const ModelSpec& model, const std::string& whose) const;
  StoredExamples put(const Examples& examples, cudaStream_t stream);
  std::byte* room(size_t bytes);

  const ExampleSource& source_;
  ThreadPool& pool_;
  size_t budget_;
  size_t held_ = 0;  // bytes of slabs
  std::vector<Buffer<std::byte>> slabs_;
  size_t used_ = 0;  // of the last slab
  std::map<uint32_t, StoredExamples> clients_;
  std::map<Needs, std::set<uint32_t>> checked_;  // clients that models with these needs can take
  std::set<Needs> test_checked_;
  Buffer<float> test_inputs_;
  Buffer<int32_t> test_labels_;
};

}  // namespace subfleet::cuda
