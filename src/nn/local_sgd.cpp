#include "nn/local_sgd.h"

#include <algorithm>

#include "nn/jobs.h"
#include "subfleet/trainer.h"

namespace subfleet {
namespace {

void fill_batch(const Examples& examples, std::span<const uint32_t> chosen, Examples& batch) {
  batch.reset(examples.features, chosen.size());
  for (const uint32_t index : chosen) batch.append(examples.input(index), examples.labels[index]);
}

}  // namespace

Network& LocalSgd::network(const ModelSpec& model) {
  return *networks_.get(network_key(model), make_network_);
}

Score LocalSgd::train(const ModelSpec& model, std::span<float> weights, const Examples& examples,
                      const LocalTraining& how, const RandomKey& order) {
  Score total;
  if (examples.count() == 0) return total;
  Network& net = network(model);
  Random random(order);
  order_.resize(examples.count());
  steps_.begin(how, weights);
  for (uint32_t epoch = 0; epoch < how.epochs; ++epoch) {
    order_examples(random, how, epoch, order_);
    for (size_t first = 0; first < order_.size(); first += how.batch) {
      const size_t count = std::min<size_t>(how.batch, order_.size() - first);
      fill_batch(examples, std::span(order_).subspan(first, count), batch_);
      const Score score = net.train_step(weights, {batch_.inputs, batch_.labels}, how.client_lr);
      steps_.finish(weights);
      total.loss += score.loss;
      total.correct += score.correct;
    }
  }
  return total;
}

}  // namespace subfleet
