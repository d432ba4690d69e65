#include "nn/cpu/network.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"
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
// pooling.
std::vector<LayerSite> pooled_first(std::vector<LayerSite> sites) {
  for (size_t i = 0; i + 1 < sites.size(); ++i) {
    if (sites[i].spec.type != "relu" || sites[i + 1].spec.type != "maxpool") continue;
    std::swap(sites[i], sites[i + 1]);
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

// The layers of a model for one batch size.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const std::vector<LayerSite>& sites, size_t batch, bool training)
      : tensors_(engine) {
    input_ = {.values = tensors_.reserve(plain_layout(batch, sites.front().input)), .gradient = {}};
    Flow flow = input_;
    const auto append = [&](const LayerSite& site) {
      layers_.push_back({.layer = make_layer(tensors_, {site, batch, training, flow}),
                         .weights_offset = site.weights_offset,
                         .weights_count = site.weights_count,
                         .output_scale = site.spec.output_scale});
      flow = layers_.back().layer->output();
    };
    for (const LayerSite& site : sites) append(site);
    const Shape output = sites.back().output;
    // The logits are read in plain order, whatever the last layer is.
    append({.spec = {.type = "flatten"}, .input = output, .output = {output.size(), 1, 1}});
    output_ = flow;
    classes_ = output.size();
    batch_ = batch;
  }

  size_t bytes() const { return tensors_.bytes(); }

  void bind(std::byte* buffer) { tensors_.bind(buffer); }

  std::span<const float> forward(const dnnl::stream& stream, std::span<const float> weights,
                                 std::span<const float> inputs) {
    std::ranges::copy(inputs, data(input_.values));
    for (const PlannedLayer& planned : layers_) {
      planned.layer->forward(stream, weights.subspan(planned.weights_offset, planned.weights_count));
      scale(planned.layer->output().values, planned.output_scale);
    }
    return {data(output_.values), batch_ * classes_};
  }

  // Where backward() finds the gradient of the logits; empty if there is nothing to learn.
  std::span<float> logits_gradient() const {
    if (!output_.gradient) return {};
    return {data(output_.gradient), batch_ * classes_};
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) {
    for (auto planned = layers_.rbegin(); planned != layers_.rend(); ++planned) {
      scale(planned->layer->output().gradient, planned->output_scale);
      planned->layer->backward(stream, weights.subspan(planned->weights_offset, planned->weights_count),
                               client_lr);
    }
  }

 private:
  struct PlannedLayer {
    std::unique_ptr<Layer> layer;
    size_t weights_offset = 0, weights_count = 0;
    float output_scale = 1;
  };
  BufferPlan tensors_;
  Flow input_, output_;
  std::vector<PlannedLayer> layers_;
  size_t batch_ = 0, classes_ = 0;
};

class CpuNetwork final : public Network {
 public:
  explicit CpuNetwork(const ModelSpec& model)
      : sites_(pooled_first(layer_sites(model))), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  Score train_step(std::span<float> weights, const Batch& batch, float client_lr) override {
    const OneThread one_thread;
    try {
      Plan& plan = prepare(batch.labels.size(), true);
      const std::span<const float> logits = plan.forward(stream_, weights, batch.inputs);
      const Score score = softmax_cross_entropy(logits, batch.labels, plan.logits_gradient());
      plan.backward(stream_, weights, client_lr);
      return score;
    } catch (const dnnl::error& error) {
      rethrow(error);
    }
  }

  void infer(std::span<const float> weights, std::span<const float> inputs,
             std::span<float> logits) override {
    const OneThread one_thread;
    try {
      Plan& plan = prepare(inputs.size() / sites_.front().input.size(), false);
      std::ranges::copy(plan.forward(stream_, weights, inputs), logits.begin());
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
    return plan;
  }

  // oneDNN shares what it makes between threads, so one makes at a time.
  Plan& find_or_make(size_t batch, bool training) {
    const auto found = plans_.find({batch, training});
    if (found != plans_.end()) return found->second;
    static std::mutex making;
    const std::lock_guard lock(making);
    require_memory_for_code();
    return plans_.try_emplace({batch, training}, engine_, sites_, batch, training).first->second;
  }

  std::vector<LayerSite> sites_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::map<std::pair<size_t, bool>, Plan> plans_;  // by batch size and whether for training
  std::vector<Line> buffer_;
};

}  // namespace

std::unique_ptr<Network> make_network(const ModelSpec& model) { return std::make_unique<CpuNetwork>(model); }

}  // namespace subfleet::cpu
