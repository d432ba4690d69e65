#include "data/client_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "data/glyph_strokes.h"
#include "model/vocabulary.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"

namespace subfleet {

static_assert(values_of(ExampleKind::kText) == kWindow);

std::string user_title(std::string_view name) {
  constexpr size_t kLongest = 40;
  return fmt::format("user '{}'", clip_text(one_line(name), kLongest));
}

class ClientTable::Table final : public Federation {
 public:
  Table(std::vector<Client> clients, ExampleKind kind, bool own_split, bool inverted)
      : kind_(kind), own_split_(own_split), inverted_(inverted), clients_(std::move(clients)) {
    for (const Client& client : clients_) {
      classes_ = std::max(classes_, uint32_t{*std::ranges::max_element(client.examples.labels)} + 1);
    }
    if (kind == ExampleKind::kText) classes_ = kSymbols;
  }

  uint32_t clients() const override { return static_cast<uint32_t>(clients_.size()); }
  Shape input() const override {
    return kind_ == ExampleKind::kText ? Shape{1, kWindow, 1} : Shape{1, kSide, kSide};
  }
  uint32_t classes() const override { return classes_; }
  uint32_t samples(uint32_t client) const override {
    return static_cast<uint32_t>(clients_.at(client).examples.labels.size());
  }
  std::optional<uint32_t> own_test_samples(uint32_t client) const override {
    if (!own_split_) return std::nullopt;
    return clients_.at(client).tests;
  }
  std::string class_name(uint32_t label) const override {
    return kind_ == ExampleKind::kText ? symbol_name(label) : character_name(label);
  }

  uint64_t fingerprint() const override {
    Hash hash;
    hash.add(static_cast<uint64_t>(kind_)).add(uint64_t{own_split_}).add(uint64_t{inverted_});
    for (const Client& client : clients_) {
      hash.add_values(client.examples.values).add_values(client.examples.labels).add(client.tests);
    }
    return hash.value();
  }

  void read(uint32_t client, Examples& into) const override {
    const ClientExamples& examples = clients_.at(client).examples;
    into.reset(values_of(kind_), examples.labels.size());
    for (const uint16_t value : examples.values) into.inputs.push_back(input_of(value));
    into.labels.assign(examples.labels.begin(), examples.labels.end());
  }

 private:
  static constexpr size_t kSide = 28;

  float input_of(uint16_t value) const {
    if (kind_ == ExampleKind::kText) return value;
    const float pixel = static_cast<float>(value) / 65535.0f;
    return inverted_ ? 1.0f - pixel : pixel;
  }

  ExampleKind kind_;
  bool own_split_, inverted_;
  uint32_t classes_ = 0;
  std::vector<Client> clients_;
};

void ClientTable::set_kind(const std::filesystem::path& file, ExampleKind kind) {
  if (!empty_ && kind != kind_) {
    throw bad_request(path_name(file), "mixes pictures and text; all users of a data set have the same");
  }
  empty_ = false;
  kind_ = kind;
}

void ClientTable::add_train(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                            ClientExamples examples) {
  if (examples.labels.empty()) {
    throw bad_request(path_name(file),
                      fmt::format("{} has no examples; every user has at least one", user_title(name)));
  }
  set_kind(file, kind);
  if (clients_.contains(name)) {
    throw bad_request(path_name(file),
                      fmt::format("{} appears twice, in this file or also in an earlier one; remove one",
                                  user_title(name)));
  }
  clients_.emplace(name, Client{.examples = std::move(examples)});
}

void ClientTable::add_test(const std::filesystem::path& file, const std::string& name, ExampleKind kind,
                           const ClientExamples& examples) {
  if (examples.labels.empty()) return;
  set_kind(file, kind);
  const auto found = clients_.find(name);
  if (found == clients_.end()) {
    throw bad_request(path_name(file),
                      fmt::format("{} has examples for testing but none for training; split each user's "
                                  "examples (LEAF: -t sample), not the users",
                                  user_title(name)));
  }
  Client& client = found->second;
  if (std::exchange(client.tested, true)) {
    throw bad_request(path_name(file),
                      fmt::format("{} appears twice, in this file or also in an earlier one; remove one",
                                  user_title(name)));
  }
  client.tests = static_cast<uint32_t>(examples.labels.size());
  auto& [values, labels] = client.examples;
  values.insert(values.end(), examples.values.begin(), examples.values.end());
  labels.insert(labels.end(), examples.labels.begin(), examples.labels.end());
}

std::unique_ptr<Federation> ClientTable::federation(const DataOptions& options) && {
  if (clients_.empty()) throw bad_request(path_name(options.path), "holds no users");
  std::vector<Client> kept;
  size_t most = 0;
  for (auto& [name, client] : clients_) {
    const size_t count = client.examples.labels.size();
    most = std::max(most, count);
    if (count >= options.min_samples) kept.push_back(std::move(client));
  }
  if (kept.empty()) {
    throw bad_request("data.min_samples", fmt::format("none of the {} users has {} examples; the most is {}",
                                                      clients_.size(), options.min_samples, most));
  }
  return std::make_unique<Table>(std::move(kept), kind_, own_split_, !options.raw_polarity);
}

}  // namespace subfleet
