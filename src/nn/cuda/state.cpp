#include "nn/cuda/state.h"

#include <fmt/format.h>

#include "nn/state_checks.h"
#include "subfleet/error.h"

namespace subfleet::cuda {

void CudaState::Values::zero(cudaStream_t stream) {
  copied_ = false;
  on_gpu_.zero(stream);
}

void CudaState::Values::set(std::span<const float> values, cudaStream_t stream) {
  copied_ = false;
  on_gpu_.upload(values, stream);
}

std::span<const float> CudaState::Values::on_host(cudaStream_t stream) {
  if (!copied_) {
    on_host_.resize(on_gpu_.size());
    on_gpu_.download(on_host_, stream);
    copied_ = true;
  }
  return on_host_;
}

CudaState::CudaState(const ModelSpec& model, const OptimizerOptions& options, cudaStream_t stream)
    : model_(model),
      stream_(stream),
      step_(make_server_step(options)),
      weights_(parameter_count(model)),
      sums_(weights_.size()),
      holders_(weights_.size()) {
  weights_.zero(stream_);
  for (size_t i = 0; i < step_->moment_names().size(); ++i) {
    moments_.emplace_back(weights_.size());
    moments_.back().zero(stream_);
  }
  CudaState::clear_sum();
}

std::span<const float> CudaState::weights() { return weights_.on_host(stream_); }

std::span<const float> CudaState::tested_weights() {
  return averages() ? moments_.front().on_host(stream_) : weights();
}

std::vector<Moment> CudaState::moments() {
  std::vector<Moment> all;
  for (size_t i = 0; i < moments_.size(); ++i)
    all.push_back({step_->moment_names()[i], moments_[i].on_host(stream_)});
  return all;
}

void CudaState::set_weights(std::span<const float> weights) {
  check_weights(model_, size(), weights);
  weights_.set(weights, stream_);
  if (averages()) moments_.front().set(weights, stream_);
}

void CudaState::set_moments(std::span<const std::vector<float>> moments) {
  check_moments(model_, size(), step_->moment_names(), moments);
  for (size_t i = 0; i < moments_.size(); ++i) moments_[i].set(moments[i], stream_);
}

void CudaState::clear_sum() {
  sums_.zero(stream_);
  holders_.zero(stream_);
  examples_ = 0;
}

void CudaState::with_sum(const std::function<void(PartialSum&)>& visit) {
  if (!host_sum_) host_sum_.emplace(size());
  PartialSum& sum = *host_sum_;
  sums_.download(sum.sums(), stream_);
  holders_.download(sum.holders(), stream_);
  sum.set_examples(examples_);
  visit(sum);
  if (sum.size() != size()) {
    const size_t left = sum.size();
    host_sum_.reset();
    throw failure("partial sum", fmt::format("{} values were put in place of {}", left, size()));
  }
  sums_.upload(sum.sums(), stream_);
  holders_.upload(sum.holders(), stream_);
  examples_ = sum.examples();
}

bool CudaState::step(const ServerRound& round) {
  not_finite_.zero(stream_);
  std::vector<float*> moments;
  for (Values& moment : moments_) moments.push_back(moment.change());
  step_->run({.size = size(),
              .sums = sums_.data(),
              .holders = holders_.data(),
              .examples = examples_,
              .weights = weights_.change(),
              .moments = moments,
              .not_finite = not_finite_.data()},
             round, stream_);
  uint32_t not_finite = 0;
  not_finite_.download({&not_finite, 1}, stream_);
  return not_finite == 0;
}

void CudaState::add_examples(uint64_t examples) {
  PartialSum::check_examples(examples_ + examples);
  examples_ += examples;
}

}  // namespace subfleet::cuda
