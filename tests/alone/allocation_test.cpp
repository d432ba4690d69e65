// Once the cpu trainer has seen a round, the next ones take no memory for tensors, examples or sums: what is
// asked for is small, such as oneDNN's lists of arguments. A program of its own, because it replaces operator
// new.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <new>

#include "nn/trainer_testing.h"

namespace {

constexpr size_t kLarge = 4096;  // a page
std::atomic<size_t> large_requests{0};

void* take(size_t size, size_t alignment) {
  if (size >= kLarge) ++large_requests;
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return take(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace subfleet {
namespace {

size_t large_requests_of_the_third_round(const std::string& model_name) {
  const ModelSpec model = find_model(model_name);
  const SubModel whole = whole_model(model);
  std::vector<Job> jobs;
  ReadyExamples source;
  for (uint32_t client = 0; client < 3; ++client) {
    jobs.push_back({.client = client, .row = client, .submodel = &whole});
    source.clients.push_back(random_examples(model, 6 + client, client));
  }
  ThreadPool pool(1);
  const auto trainer = make_trainer("cpu", pool, source);
  const auto state = state_of(*trainer, model, random_weights(model));
  const Cohort cohort{.model = &model,
                      .code = {},
                      .rows = 3,
                      .jobs = jobs,
                      .how = {.batch = 4},
                      .wire = exact_wire(),
                      .state = state.get()};
  size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    state->clear_sum();
    before = large_requests;
    const auto results = trainer->train({&cohort, 1});
    EXPECT_TRUE(state->step({.results = results.front()}));
  }
  return large_requests - before;
}

TEST(Allocation, IsCounted) {
  const size_t before = large_requests;
  const std::vector<float> tensor(kLarge);
  EXPECT_EQ(large_requests, before + 1) << tensor.size();
}

TEST(Allocation, ARoundTakesNoNewMemory) {
  const std::vector<std::string> names = trainer_names();
  if (std::ranges::find(names, "cpu") == names.end()) GTEST_SKIP() << "built without the cpu trainer";
  for (const std::string model : {"emnist-cnn", "char-lstm", "allcnn-c"})
    EXPECT_EQ(large_requests_of_the_third_round(model), 0u) << model;
}

}  // namespace
}  // namespace subfleet
