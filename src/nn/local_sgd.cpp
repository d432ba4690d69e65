#include "nn/local_sgd.h"

#include <algorithm>

#include "nn/augment.h"
#include "nn/jobs.h"
#include "subfleet/trainer.h"

namespace subfleet {
Network& LocalSgd::network(const ModelSpec& model, std::span<const std::vector<uint32_t>> channel_groups) {
  check_has_layers(model);
  Network& network = *networks_.get(network_key(model), make_network_);
  network.set_channel_groups(channel_groups);
  return network;
}

void LocalSgd::fill_batch(const Examples& examples, std::span<const uint32_t> chosen, uint32_t seen,
                          const LocalTraining& how, const Shape& shape, RandomKey key) {
  batch_.reset(examples.features, chosen.size());
  key.purpose = Purpose::kAugment;
  seen_.resize(examples.features);
  for (const uint32_t index : chosen) {
    std::span<const float> example = examples.input(index);
    if (is_augmented(how)) {
      augment(key, seen++, how, shape, example, seen_);
      example = seen_;
    }
    batch_.append(example, examples.labels[index]);
  }
}

Score LocalSgd::train(const SubModel& submodel, std::span<float> weights, const Examples& examples,
                      const LocalTraining& how, const RandomKey& order) {
  Score total;
  if (examples.count() == 0) return total;
  Network& net = network(submodel.spec(), submodel.channel_groups());
  Random random(order);
  order_.resize(examples.count());
  steps_.begin(how, weights);
  for (uint32_t epoch = 0; epoch < how.epochs; ++epoch) {
    order_examples(random, how, epoch, order_);
    for (size_t first = 0; first < order_.size(); first += how.batch) {
      if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Interrupted();
      const size_t count = std::min<size_t>(how.batch, order_.size() - first);
      const auto seen = static_cast<uint32_t>(epoch * order_.size() + first);
      fill_batch(examples, std::span(order_).subspan(first, count), seen, how, submodel.spec().input, order);
      const Score score = net.train_step(weights, {batch_.inputs, batch_.labels}, how.client_lr);
      steps_.finish(weights);
      total.loss += score.loss;
      total.correct += score.correct;
    }
  }
  return total;
}

}  // namespace subfleet
