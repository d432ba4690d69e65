#include "nn/cpu/network.h"

#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <mutex>
#include <new>

#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"
#include "nn/next_symbol.h"
#include "subfleet/error.h"

namespace subfleet::cpu {
namespace {

// oneDNN would use every core through OpenMP; here one job is one thread. The setting belongs to the calling
// thread.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The code that oneDNN 2.6 generates keeps values beyond the end of the stack, where a signal's handler
// works: signals wait until a step is done. Those of the code's own faults do not.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    ::sigfillset(&signals);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&signals, fault);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

[[noreturn]] void rethrow(const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
  throw failure("oneDNN", error.what());
}

// oneDNN crashes if there is no memory for the code that it generates, when a primitive is made and in the
// first matrix products. So check first.
void require_memory_for_code() {
  constexpr size_t kCode = size_t{64} << 20;
  void* const room = ::mmap(nullptr, kCode, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, kCode);
}

// ReLU does not change which value of a window is the largest, so it can work on the fewer values after
// pooling, if nobody else reads what it makes.
std::vector<LayerSite> pooled_first(std::vector<LayerSite> sites) {
  const std::vector<size_t> readers = reader_counts(sites);
  for (size_t i = 0; i + 1 < sites.size(); ++i) {
    if (sites[i].spec.type != "relu" || sites[i + 1].spec.type != "maxpool") continue;
    if (readers[i + 1] != 1 || sites[i + 1].inputs.front() != i + 1) continue;
    std::swap(sites[i], sites[i + 1]);
    std::swap(sites[i].inputs, sites[i + 1].inputs);
    sites[i + 1].input = sites[i + 1].output = sites[i].output;
  }
  return sites;
}

// Multiplies all values of a tensor, whatever its layout.
void scale(const dnnl::memory& tensor, float factor) {
  if (factor == 1) return;
  const size_t count = tensor.get_desc().get_size() / sizeof(float);
  float* values = data(tensor);
  on_wide_vectors([&] {
#pragma omp simd
    for (size_t i = 0; i < count; ++i) values[i] *= factor;
  });
}

void add_to(const dnnl::memory& sum, const dnnl::memory& more) {
  const size_t count = sum.get_desc().get_size() / sizeof(float);
  const float* from = data(more);
  float* to = data(sum);
  on_wide_vectors([&] {
#pragma omp simd
    for (size_t i = 0; i < count; ++i) to[i] += from[i];
  });
}

void copy(const dnnl::memory& from, const dnnl::memory& to) {
  std::copy_n(data(from), from.get_desc().get_size() / sizeof(float), data(to));
}

// The layers of a model for one batch size. Of a value that several layers read, each writes a gradient of
// its own, and they are added up before the layer that made it goes back.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const std::vector<LayerSite>& sites, size_t rows, size_t batch,
       bool training)
      : tensors_(engine), readers_(reader_counts(sites)), values_(sites.size() + 1) {
    values_[0].made = {.values = tensors_.reserve(plain_layout(batch, sites.front().input)), .gradient = {}};
    for (size_t i = 0; i < sites.size(); ++i) {
      const LayerSite& site = sites[i];
      PlannedLayer& planned =
          layers_.emplace_back(PlannedLayer{.weights_offset = site.weights_offset,
                                            .weights_count = site.weights_count,
                                            .has_channel_groups = has_channel_groups(site.spec),
                                            .whole_groups = {},
                                            .output_scale = site.spec.output_scale,
                                            .input_scale = site.spec.input_scale});
      if (planned.has_channel_groups) planned.whole_groups = equal_channel_groups(site);
      PlanSite place{.site = site, .batch = batch, .training = training, .input = read(site.inputs.front())};
      if (planned.input_scale != 1) place.input = planned.scaled = scaled_copy(planned, place.input);
      for (const uint32_t value : std::span(site.inputs).subspan(1)) place.more.push_back(read(value));
      planned.layer = make_layer(tensors_, place);
      values_[i + 1].made = planned.layer->output();
    }
    plan_output(sites.back().output, rows, batch);
  }

  size_t bytes() const { return tensors_.bytes(); }

  void bind(std::byte* buffer) { tensors_.bind(buffer); }

  void set_channel_groups(std::span<const std::vector<uint32_t>> groups) {
    size_t next = 0;
    for (const PlannedLayer& planned : layers_) {
      if (planned.has_channel_groups)
        planned.layer->set_channel_groups(groups.empty() ? planned.whole_groups : groups[next++]);
    }
  }

  // Rows of logits: of each example or, where there is one for every step, all examples' first steps, then
  // their second steps, ...
  std::span<const float> forward(const dnnl::stream& stream, std::span<const float> weights,
                                 std::span<const float> inputs) {
    std::ranges::copy(inputs, data(values_.front().made.values));
    for (const PlannedLayer& planned : layers_) {
      if (planned.scaled.values) {
        copy(planned.unscaled.values, planned.scaled.values);
        scale(planned.scaled.values, planned.input_scale);
      }
      planned.layer->forward(stream, weights.subspan(planned.weights_offset, planned.weights_count));
      scale(planned.layer->output().values, planned.output_scale);
    }
    fetch_logits_.run(stream);
    return {data(logits_.values), logit_count_};
  }

  // Where backward() finds the gradient of the logits; empty if there is nothing to learn.
  std::span<float> logits_gradient() const {
    if (!logits_.gradient) return {};
    return {data(logits_.gradient), logit_count_};
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) {
    deliver_gradient_.run(stream);
    for (size_t i = layers_.size(); i-- > 0;) {
      const PlannedLayer& planned = layers_[i];
      for (const dnnl::memory& more : values_[i + 1].more_gradients)
        add_to(values_[i + 1].made.gradient, more);
      scale(planned.layer->output().gradient, planned.output_scale);
      planned.layer->backward(stream, weights.subspan(planned.weights_offset, planned.weights_count),
                              client_lr);
      if (planned.scaled.gradient) {
        copy(planned.scaled.gradient, planned.unscaled.gradient);
        scale(planned.unscaled.gradient, planned.input_scale);
      }
    }
  }

 private:
  struct PlannedLayer {
    std::unique_ptr<Layer> layer = nullptr;
    size_t weights_offset = 0, weights_count = 0;
    bool has_channel_groups = false;
    std::vector<uint32_t> whole_groups;
    float output_scale = 1, input_scale = 1;
    Flow unscaled = {}, scaled = {};  // the input, if it is scaled
  };

  struct Value {
    Flow made = {};
    std::vector<dnnl::memory> more_gradients = {};  // of its second reader, its third, ...
    size_t read = 0;
  };

  // The value as its next reader sees it.
  Flow read(uint32_t number) {
    Value& value = values_[number];
    Flow flow = value.made;
    flow.shared = flow.shared || readers_[number] > 1;
    if (value.read++ > 0 && flow.gradient) {
      flow.gradient = tensors_.reserve(flow.gradient.get_desc());
      value.more_gradients.push_back(flow.gradient);
    }
    return flow;
  }

  Flow scaled_copy(PlannedLayer& planned, const Flow& input) {
    planned.unscaled = input;
    Flow scaled{.values = tensors_.reserve(input.values.get_desc()), .gradient = {}};
    if (input.gradient) scaled.gradient = tensors_.reserve(input.gradient.get_desc());
    return scaled;
  }

  // The logits are read in plain order, or step by step, whatever the last layer is.
  void plan_output(const Shape& output, size_t rows, size_t batch) {
    const Flow& flow = values_.back().made;
    const dnnl::memory::desc layout =
        rows == 1 ? plain_layout(batch, output) : step_by_step_layout(batch, output);
    logits_.values = tensors_.reserve_copy(flow.values, layout);
    fetch_logits_ = make_reorder(tensors_, flow.values, logits_.values);
    logit_count_ = batch * output.size();
    if (!flow.gradient) return;
    logits_.gradient = tensors_.reserve_copy(flow.gradient, layout);
    deliver_gradient_ = make_reorder(tensors_, logits_.gradient, flow.gradient);
  }

  BufferPlan tensors_;
  std::vector<size_t> readers_;
  std::vector<Value> values_;
  std::vector<PlannedLayer> layers_;
  Flow logits_;
  size_t logit_count_ = 0;
  Call fetch_logits_, deliver_gradient_;
};

class CpuNetwork final : public Network {
 public:
  explicit CpuNetwork(const ModelSpec& model)
      : sites_(pooled_first(layer_sites(model))),
        rows_(logit_rows(model)),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_) {}

  void set_channel_groups(std::span<const std::vector<uint32_t>> groups) override {
    groups_.assign(groups.begin(), groups.end());
  }

  Score train_step(std::span<float> weights, const Batch& batch, float client_lr) override {
    const OneThread one_thread;
    const SignalsWait signals_wait;
    try {
      Plan& plan = prepare(batch.labels.size(), true);
      const std::span<const float> logits = plan.forward(stream_, weights, batch.inputs);
      const size_t classes = sites_.back().output.size() / rows_;
      const Score score = score_steps<float>(logits, batch, rows_, classes, plan.logits_gradient(), labels_);
      plan.backward(stream_, weights, client_lr);
      return score;
    } catch (const dnnl::error& error) {
      rethrow(error);
    }
  }

  void infer(std::span<const float> weights, std::span<const float> inputs,
             std::span<float> logits) override {
    const OneThread one_thread;
    const SignalsWait signals_wait;
    try {
      Plan& plan = prepare(inputs.size() / sites_.front().input.size(), false);
      std::ranges::copy(plan.forward(stream_, weights, inputs).last(logits.size()), logits.begin());
    } catch (const dnnl::error& error) {
      rethrow(error);
    }
  }

 private:
  struct alignas(BufferPlan::kAlignment) Line {
    std::byte bytes[BufferPlan::kAlignment];
  };

  // The plan of that kind and size, with its tensors in the buffer. Making one is slow, so they are kept.
  Plan& prepare(size_t batch, bool training) {
    const size_t plans = plans_.size();
    Plan& plan = find_or_make(batch, training);
    buffer_.resize(std::max(buffer_.size(), plan.bytes() / sizeof(Line)));
    if (plans_.size() > plans) require_memory_for_code();
    plan.bind(buffer_.data()->bytes);
    plan.set_channel_groups(groups_);
    return plan;
  }

  // oneDNN shares what it makes between threads, so one makes at a time.
  Plan& find_or_make(size_t batch, bool training) {
    const auto found = plans_.find({batch, training});
    if (found != plans_.end()) return found->second;
    static std::mutex making;
    const std::lock_guard lock(making);
    require_memory_for_code();
    return plans_.try_emplace({batch, training}, engine_, sites_, rows_, batch, training).first->second;
  }

  std::vector<LayerSite> sites_;
  size_t rows_;  // of logits, per example
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::map<std::pair<size_t, bool>, Plan> plans_;  // by batch size and whether for training
  std::vector<Line> buffer_;
  std::vector<std::vector<uint32_t>> groups_;  // empty: those of a whole model
  std::vector<int32_t> labels_;
};

}  // namespace

std::unique_ptr<Network> make_network(const ModelSpec& model) { return std::make_unique<CpuNetwork>(model); }

}  // namespace subfleet::cpu
