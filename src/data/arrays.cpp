#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/hash.h"
#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

void check(const Examples& examples, const Shape& input, uint32_t classes, const std::string& whose) {
  if (examples.features != input.size() || examples.inputs.size() != examples.features * examples.count()) {
    throw bad_request(whose, fmt::format("examples of {} values; the first client's have {}",
                                         examples.features, input.size()));
  }
  if (!std::ranges::all_of(examples.inputs, [](float value) { return std::isfinite(value); }))
    throw bad_request(whose, "a value is not finite");
  const auto wrong = std::ranges::find_if(
      examples.labels, [&](int32_t label) { return label < 0 || static_cast<uint32_t>(label) >= classes; });
  if (wrong == examples.labels.end()) return;
  throw bad_request(
      whose, fmt::format("label {} is not one of the {} classes, which are counted from 0", *wrong, classes));
}

class ArrayFederation final : public Federation {
 public:
  ArrayFederation(const Shape& input, uint32_t classes, std::vector<Examples> clients,
                  std::optional<Examples> test)
      : input_(input), classes_(classes), clients_(std::move(clients)), test_(std::move(test)) {
    Hash hash;
    hash.add(input.channels).add(input.height).add(input.width).add(classes);
    for (size_t i = 0; i < clients_.size(); ++i) {
      check(clients_[i], input, classes, fmt::format("client {}", i));
      hash.add_values(clients_[i].inputs).add_values(clients_[i].labels);
    }
    if (test_) {
      check(*test_, input, classes, "test");
      hash.add_values(test_->inputs).add_values(test_->labels);
    }
    fingerprint_ = hash.value();
  }

  uint32_t clients() const override { return static_cast<uint32_t>(clients_.size()); }
  Shape input() const override { return input_; }
  uint32_t classes() const override { return classes_; }
  void read(uint32_t client, Examples& into) const override { into = clients_.at(client); }
  uint32_t samples(uint32_t client) const override {
    return static_cast<uint32_t>(clients_.at(client).count());
  }
  const Examples* own_test_set() const override { return test_ ? &*test_ : nullptr; }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::string class_name(uint32_t label) const override { return fmt::format("{}", label); }

 private:
  Shape input_;
  uint32_t classes_;
  std::vector<Examples> clients_;
  std::optional<Examples> test_;
  uint64_t fingerprint_ = 0;
};

}  // namespace

std::unique_ptr<Federation> make_array_federation(const Shape& input, uint32_t classes,
                                                  std::vector<Examples> clients,
                                                  std::optional<Examples> test) {
  if (clients.empty()) throw bad_request("clients", "there is none");
  return std::make_unique<ArrayFederation>(input, classes, std::move(clients), std::move(test));
}

}  // namespace subfleet
