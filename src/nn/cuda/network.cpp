#include "nn/cuda/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "subfleet/error.h"

namespace subfleet::cuda {
namespace {

// What a layer keeps for itself, in values per job, about.
size_t no_room(const LayerPlan&) { return 0; }

// Where each largest was.
size_t maxpool_room(const LayerPlan& plan) {
  return static_cast<size_t>(plan.rows) * plan.site.output.size();
}

// Parts of the gradient, two arrangements of the weights, and the places of a pool's largest values.
size_t conv2d_room(const LayerPlan& plan) {
  constexpr size_t kCopies = 16;
  return kCopies * plan.site.weights_count + maxpool_room(plan);
}

// The factors, and parts of the products with the shared weights.
size_t dense_room(const LayerPlan& plan) {
  if (plan.history == 0 || !fits_factored_dense(plan.site, plan.rows)) return 0;
  constexpr size_t kParts = 8;  // of a product, at most
  const auto rows = static_cast<size_t>(plan.rows);
  return (plan.history + kParts * rows) * (plan.site.input.size() + plan.site.output.size()) +
         rows * plan.history;
}

// Input, gates, cells and outputs of every step, and their gradients.
size_t lstm_room(const LayerPlan& plan) {
  const size_t steps = plan.site.input.height + 1;
  return static_cast<size_t>(plan.rows) * steps *
         (2 * plan.site.input.channels + 10 * plan.site.output.channels);
}

struct Entry {
  std::string_view type;
  std::unique_ptr<Layer> (*make)(const LayerPlan&);
  size_t (*room)(const LayerPlan&);
  bool does_relu;    // that follows it
  bool undoes_relu;  // of the layer before it
};

// `flatten` changes nothing here and is left out of a network.
constexpr std::array<Entry, 7> kLayers{{
    {"avgpool", make_avgpool, no_room, false, true},
    {"conv2d", make_conv2d, conv2d_room, true, true},
    {"dense", make_dense, dense_room, true, true},
    {"embedding", make_embedding, no_room, false, false},
    {"lstm", make_lstm, lstm_room, false, false},
    {"maxpool", make_maxpool, maxpool_room, false, true},
    {"relu", make_relu, no_room, false, false},
}};

const Entry& entry_of(const LayerSpec& spec) {
  const auto* found = std::ranges::find(kLayers, spec.type, &Entry::type);
  if (found == kLayers.end()) throw failure("device cuda", "it has no layer of type " + spec.type);
  return *found;
}

// The layers that compute, with every ReLU that a neighbour can do on the way left to it.
std::vector<LayerPlan> plan_layers(const ModelSpec& model, int rows, bool tf32, size_t history) {
  std::vector<LayerSite> sites = layer_sites(model);
  std::erase_if(sites, [](const LayerSite& site) { return site.spec.type == "flatten"; });
  std::vector<LayerPlan> plans;
  for (size_t i = 0; i < sites.size(); ++i) {
    const bool done = sites[i].spec.type == "relu" && !plans.empty() && i + 1 < sites.size() &&
                      entry_of(plans.back().site.spec).does_relu && !plans.back().relu_after &&
                      entry_of(sites[i + 1].spec).undoes_relu;
    if (done) {
      plans.back().relu_after = true;
      continue;
    }
    if (plans.size() == 1 && plans[0].relu_after && plans[0].pool == 0 && sites[i].spec.type == "maxpool" &&
        fits_grey_conv(plans[0].site, sites[i].spec.kernel)) {
      plans[0].pool = sites[i].spec.kernel;
      plans[0].relu_after = false;  // what comes back is the gradient of the pooled values, as it is
      plans[0].site.output = sites[i].output;
      continue;
    }
    const bool before = !plans.empty() && plans.back().relu_after;
    plans.push_back(
        {.site = sites[i], .rows = rows, .tf32 = tf32, .relu_before = before, .history = history});
  }
  return plans;
}

}  // namespace

std::string cuda_misfit(const ModelSpec& model) {
  if (model.tensors)
    return "is known by its tensors alone, which only the program that it comes from can train";
  const std::vector<LayerSite> sites = layer_sites(model);
  for (size_t i = 0; i < sites.size(); ++i) {
    const LayerSpec& spec = sites[i].spec;
    const bool known =
        spec.type == "flatten" || std::ranges::find(kLayers, spec.type, &Entry::type) != kLayers.end();
    const bool in_chain = sites[i].inputs == std::vector{static_cast<uint32_t>(i)};
    const bool usual_windows = !spec.padding && !spec.pool_stride && spec.groups == 1 &&
                               (spec.type != "avgpool" || spec.kernel == 0);
    const bool of_steps = spec.type == "dense" && sites[i].input.height > 1;
    if (known && in_chain && usual_windows && spec.bias && !of_steps) continue;
    return fmt::format("layer {} ({}) is not trained on a GPU yet; use --device cpu", i + 1,
                       spec.name.empty() ? spec.type : spec.name);
  }
  if (logit_rows(model) > 1) return "a loss at every step is not trained on a GPU yet; use --device cpu";
  return {};
}

size_t network_bytes_per_job(const ModelSpec& model, int rows, bool learns, size_t history) {
  size_t values = 0, widest = 0;
  for (const LayerPlan& plan : plan_layers(model, rows, false, history)) {
    values += static_cast<size_t>(rows) * plan.site.output.size() + entry_of(plan.site.spec).room(plan);
    widest = std::max(widest, plan.site.output.size());
  }
  if (learns) values += static_cast<size_t>(rows) * (model.input.size() + 2 * widest);
  return values * sizeof(float);
}

JobNetwork::JobNetwork(const ModelSpec& model, int rows, bool tf32, size_t history)
    : plans_(plan_layers(model, rows, tf32, history)), rows_(rows), features_(model.input.size()) {
  for (const LayerPlan& plan : plans_) {
    layers_.push_back(entry_of(plan.site.spec).make(plan));
    widest_ = std::max(widest_, plan.site.output.size());
  }
  const auto learns = [](const LayerPlan& plan) { return plan.site.weights_count > 0; };
  first_learning_ = static_cast<size_t>(std::ranges::find_if(plans_, learns) - plans_.begin());
  outputs_.resize(layers_.size());
}

void JobNetwork::reserve(int jobs, bool learns) {
  const size_t rows = static_cast<size_t>(jobs) * static_cast<size_t>(rows_);
  if (learns) input_.grow(rows * features_);
  for (size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->reserve(jobs);
    outputs_[i].grow(rows * plans_[i].site.output.size());
  }
  if (!learns) return;
  for (Buffer<float>& gradient : gradients_) gradient.grow(rows * widest_);
}

void JobNetwork::begin_round(const Step& step, int steps) {
  for (const auto& layer : layers_) layer->begin_round(step, steps);
}

void JobNetwork::end_round(const Step& step) {
  for (const auto& layer : layers_) layer->end_round(step);
}

const float* JobNetwork::forward(const Step& step, const float* input) {
  const float* x = input;
  for (size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->forward(step, x, outputs_[i].data());
    x = outputs_[i].data();
  }
  return x;
}

void JobNetwork::backward(const Step& step, const float* input) {
  for (size_t i = layers_.size(); i-- > first_learning_;) {
    const float* x = i == 0 ? input : outputs_[i - 1].data();
    float* dx = i > first_learning_ ? gradients_[i % 2].data() : nullptr;
    layers_[i]->backward(step, x, outputs_[i].data(), gradients_[(i + 1) % 2].data(), dx);
  }
}

}  // namespace subfleet::cuda
