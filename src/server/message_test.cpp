#include "server/message.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "subfleet/error.h"
#include "subfleet/round_masks.h"

namespace subfleet {
namespace {

JobMessage job() {
  return {.model = "emnist-mlp",
          .code = {.family = "gold", .keep = 0.5},
          .seed = 0x123456789abcdef0,
          .round = 7,
          .rows = 5,
          .row = 3,
          .client = 99,
          .local = {.epochs = 2, .batch = 20, .client_lr = 0.5f, .shuffle = false},
          .weights = {1.5f, -2.0f, 3.25f}};
}

TEST(Message, AJobComesBackAsItWas) {
  const JobMessage sent = job(), got = decode_job(encode(sent));
  EXPECT_EQ(got.model, sent.model);
  EXPECT_EQ(got.code.family, sent.code.family);
  EXPECT_EQ(got.code.keep, sent.code.keep);
  EXPECT_TRUE(got.code.layers.empty());
  EXPECT_TRUE(got.code.tiers.empty());
  EXPECT_EQ(got.seed, sent.seed);
  EXPECT_EQ(got.round, sent.round);
  EXPECT_EQ(got.rows, sent.rows);
  EXPECT_EQ(got.row, sent.row);
  EXPECT_EQ(got.client, sent.client);
  EXPECT_EQ(got.local.epochs, sent.local.epochs);
  EXPECT_EQ(got.local.batch, sent.local.batch);
  EXPECT_EQ(got.local.client_lr, sent.local.client_lr);
  EXPECT_EQ(got.local.shuffle, sent.local.shuffle);
  EXPECT_EQ(got.weights, sent.weights);
}

TEST(Message, AnUpdateComesBackAsItWas) {
  const UpdateMessage sent{.round = 4,
                           .row = 2,
                           .report = {.examples = 17, .loss = 0.25, .accuracy = 0.5, .diverged = true},
                           .update = {0.5f, -0.5f}};
  const UpdateMessage got = decode_update(encode(sent));
  EXPECT_EQ(got.round, sent.round);
  EXPECT_EQ(got.row, sent.row);
  EXPECT_EQ(got.report.examples, sent.report.examples);
  EXPECT_EQ(got.report.loss, sent.report.loss);
  EXPECT_EQ(got.report.accuracy, sent.report.accuracy);
  EXPECT_EQ(got.report.diverged, sent.report.diverged);
  EXPECT_EQ(got.update, sent.update);
}

TEST(Message, TheCountedSizeIsTheEncodedSize) {
  JobMessage header = job();
  const size_t weights = header.weights.size();
  const size_t encoded = encode(header).size();
  header.weights.clear();
  EXPECT_EQ(encoded_size(header, weights), encoded);

  const UpdateMessage update{.round = 1, .row = 1, .report = {}, .update = {1, 2, 3, 4}};
  EXPECT_EQ(encoded_size(UpdateMessage{}, 4), encode(update).size());
  EXPECT_LT(encoded_size(header, 0), 128u) << "a mask travels as the numbers that name it";
}

TEST(Message, ADeviceRebuildsTheServersSubModelFromTheMessage) {
  const JobMessage message = job();
  const std::vector<uint32_t> clients{95, 96, 97, 99, 98};
  const auto server =
      draw_submodels(find_model(message.model), message.code, message.seed, message.round, clients);
  const SubModel device = named_submodel(decode_job(encode(message)));
  ASSERT_EQ(device.tensors().size(), server[3].tensors().size());
  for (size_t t = 0; t < device.tensors().size(); ++t) {
    EXPECT_EQ(device.tensors()[t].rows, server[3].tensors()[t].rows);
  }
  EXPECT_NE(device.tensors()[2].rows, server[0].tensors()[2].rows) << "each client has its own";
}

TEST(Message, ADeviceOfAnyTierRebuildsItsSubModelOfLayersWithTheirOwnCodes) {
  JobMessage message = job();
  message.model = "emnist-cnn";
  message.code.layers = {{"conv2", {.family = "random", .keep = 0.75}}, {"dense1", {.family = "cwc"}}};
  message.code.tiers = {1.0, 0.5, 0.25};
  const std::vector<uint32_t> clients{95, 96, 97, 98, 99};
  const auto server =
      draw_submodels(find_model(message.model), message.code, message.seed, message.round, clients);
  std::vector<size_t> sizes;
  for (message.row = 0; message.row < message.rows; ++message.row) {
    message.client = clients[message.row];
    const JobMessage got = decode_job(encode(message));
    EXPECT_EQ(got.code.layers.at("conv2").family, "random");
    EXPECT_EQ(got.code.layers.at("conv2").keep, 0.75);
    EXPECT_EQ(got.code.layers.at("dense1").keep, 0);
    EXPECT_EQ(got.code.tiers, message.code.tiers);
    EXPECT_EQ(encoded_size(message, 0), encode(message).size());
    const SubModel device = named_submodel(got);
    ASSERT_EQ(device.size(), server[message.row].size());
    for (size_t t = 0; t < device.tensors().size(); ++t) {
      EXPECT_EQ(device.tensors()[t].rows, server[message.row].tensors()[t].rows);
    }
    sizes.push_back(device.size());
  }
  EXPECT_NE(*std::min_element(sizes.begin(), sizes.end()), *std::max_element(sizes.begin(), sizes.end()));
}

TEST(Message, EveryTruncationIsAnErrorNotACrash) {
  JobMessage message = job();
  message.code.layers = {{"dense2", {.family = "random", .keep = 0.75}}};
  message.code.tiers = {1.0, 0.5};
  const std::vector<std::byte> good = encode(message);
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_THROW(decode_job(std::span(good).first(length)), Error) << length;
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THROW(decode_job(longer), Error);
  EXPECT_THROW(decode_update(good), Error);
}

// So that what is decoded encodes to the same bytes.
TEST(Message, AFlagIsZeroOrOneAndLayersAreInOrder) {
  UpdateMessage update;
  std::vector<std::byte> bytes = encode(update);
  EXPECT_EQ(bytes[bytes.size() - 9], std::byte{0}) << "the flag before the count of values";
  bytes[bytes.size() - 9] = std::byte{2};
  EXPECT_THROW(decode_update(bytes), Error);

  JobMessage message = job();
  message.code.layers = {{"a1", {}}, {"a2", {}}};
  bytes = encode(message);
  for (std::byte& byte : bytes) {
    if (byte == std::byte{'2'} && *(&byte - 1) == std::byte{'a'}) byte = std::byte{'1'};
  }
  EXPECT_THROW(decode_job(bytes), Error);
}

TEST(Message, AJobCannotAskForMoreThanABookHolds) {
  JobMessage message = job();
  message.rows = 0xFFFFFFFF;
  for (const char* family : {"gold", "cwc", "random", "same", "rolling"}) {
    message.code.family = family;
    EXPECT_THROW(named_submodel(message), Error) << family;
  }
}

}  // namespace
}  // namespace subfleet
