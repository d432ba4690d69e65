#include "subfleet/server/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "subfleet/server/model_texts.h"

namespace subfleet {
namespace {

JobMessage job() {
  return {.model = "emnist-mlp",
          .code = {.family = "gold", .keep = 0.5, .rescale = true},
          .seed = 0x123456789abcdef0,
          .draw = 7,
          .rows = 5,
          .row = 3,
          .client = 99,
          .local = {.epochs = 2,
                    .batch = 20,
                    .client_lr = 0.5f,
                    .momentum = 0.25f,
                    .weight_decay = 0.125f,
                    .proximal = 0.75f,
                    .shuffle = false,
                    .flip = true,
                    .crop = 3},
          .down = "f32",
          .up = "f32",
          .weights = std::vector<std::byte>(12, std::byte{5})};
}

TEST(Message, AJobComesBackAsItWas) {
  const JobMessage sent = job(), got = decode_job(encode(sent));
  EXPECT_EQ(got.model, sent.model);
  EXPECT_EQ(got.code.family, sent.code.family);
  EXPECT_EQ(got.code.keep, sent.code.keep);
  EXPECT_TRUE(got.code.layers.empty());
  EXPECT_TRUE(got.code.tiers.empty());
  EXPECT_TRUE(got.code.rescale);
  EXPECT_EQ(got.seed, sent.seed);
  EXPECT_EQ(got.draw, sent.draw);
  EXPECT_EQ(got.rows, sent.rows);
  EXPECT_EQ(got.row, sent.row);
  EXPECT_EQ(got.client, sent.client);
  EXPECT_EQ(got.local, sent.local);
  EXPECT_EQ(got.down, sent.down);
  EXPECT_EQ(got.up, sent.up);
  EXPECT_EQ(got.weights, sent.weights);
}

TEST(Message, AnUpdateComesBackAsItWas) {
  const UpdateMessage sent{.draw = 4,
                           .row = 2,
                           .examples = 17,
                           .loss = 0.25,
                           .accuracy = 0.5,
                           .update = std::vector<std::byte>(8, std::byte{7})};
  const UpdateMessage got = decode_update(encode(sent));
  EXPECT_EQ(got.draw, sent.draw);
  EXPECT_EQ(got.row, sent.row);
  EXPECT_EQ(got.examples, sent.examples);
  EXPECT_EQ(got.loss, sent.loss);
  EXPECT_EQ(got.accuracy, sent.accuracy);
  EXPECT_EQ(got.update, sent.update);

  const std::vector<std::byte> bytes = encode(sent);
  const UpdateView view = view_update(bytes);
  EXPECT_EQ(view.examples, sent.examples);
  EXPECT_TRUE(std::ranges::equal(view.update, sent.update));
  EXPECT_EQ(std::to_address(view.update.end()), std::to_address(bytes.end())) << "a copy was made";
  EXPECT_THROW(view_update(std::span(bytes).first(bytes.size() - 1)), Error);
}

TEST(Message, OfAnotherFormatSaysWhoMustUpdate) {
  constexpr size_t kFormatAt = 3;
  const auto complaint = [](auto decode, std::vector<std::byte> bytes, int format) {
    bytes[kFormatAt] = static_cast<std::byte>('0' + format);
    try {
      decode(bytes);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::vector<std::byte> job_bytes = encode(job()), update_bytes = encode(UpdateMessage{});
  EXPECT_EQ(complaint(decode_job, job_bytes, kMessageFormat), "none");
  EXPECT_EQ(complaint(decode_job, job_bytes, 4),
            "message: format 4 of a newer server; this node speaks format 3: update the node");
  EXPECT_EQ(complaint(decode_job, job_bytes, 2),
            "message: format 2 of an older server; this node speaks format 3: update the server");
  EXPECT_EQ(complaint(decode_update, update_bytes, 4),
            "message: format 4 of a newer node; this server speaks format 3: update the server");
  EXPECT_EQ(complaint(decode_update, update_bytes, 2),
            "message: format 2 of an older node; this server speaks format 3: update the node");
  EXPECT_EQ(complaint(decode_job, update_bytes, kMessageFormat),
            "message: not one of Subfleet's, or of another kind");
}

TEST(Message, NamesMadeAgainAndAgainAreThoseMadeOnce) {
  const ModelSpec models[] = {find_model("emnist-mlp"), find_model("emnist-cnn"),
                              parse_model(model_toml(find_model("emnist-mlp")) + "\n", "own")};
  ModelTexts texts;
  for (const ModelSpec& model : {models[0], models[0], models[1], models[2], models[0]})
    EXPECT_EQ(texts.of(model), model_text(model));
  NamedSubModels submodels;
  const auto expect_same = [&](const JobMessage& message) {
    const SubModel kept = submodels.of(message), once = named_submodel(message);
    EXPECT_EQ(kept.spec(), once.spec());
    std::vector<float> whole(kept.whole_size());
    std::iota(whole.begin(), whole.end(), 0.0f);
    std::vector<float> ours(kept.size()), theirs(once.size());
    kept.gather(whole, ours);
    once.gather(whole, theirs);
    EXPECT_EQ(ours, theirs);
  };
  JobMessage message = job();
  expect_same(message);
  for (const auto& change : std::vector<std::function<void(JobMessage&)>>{
           [](JobMessage& m) { m.row = 1; }, [](JobMessage& m) { m.draw += 1; },
           [](JobMessage& m) { m.seed += 1; }, [](JobMessage& m) { m.rows += 1; },
           [](JobMessage& m) { m.code.keep = 0.25, m.code.family = "cwc"; },
           [](JobMessage& m) {
             m.code.tiers = {1, 0.5};
           },
           [](JobMessage& m) { m.client += 1; }, [](JobMessage& m) { m.model = "emnist-cnn"; }}) {
    change(message);
    expect_same(message);
  }
  message.code.family = "no such";
  EXPECT_THROW(submodels.of(message), Error);
  message.code.family = "cwc";
  expect_same(message);
}

TEST(Message, TheEnvelopeIsAllButTheValues) {
  const JobMessage sent = job();
  EXPECT_EQ(envelope_size(sent) + sent.weights.size(), encode(sent).size());
  const UpdateMessage update{.draw = 1, .row = 1, .update = std::vector<std::byte>(16)};
  EXPECT_EQ(envelope_size(update) + 16, encode(update).size());
  EXPECT_LT(envelope_size(sent), 128u) << "a mask travels as the numbers that name it";
}

TEST(Message, ACohortNamedInAMessageIsTheSameElsewhere) {
  const ModelSpec model = find_model("emnist-mlp");
  const Cohort cohort{.model = &model,
                      .code = {.family = "random", .keep = 0.25, .layers = {{"dense2", {.keep = 0.5}}}},
                      .seed = 5,
                      .draw = 6,
                      .rows = 7,
                      .jobs = {},
                      .how = {.epochs = 3, .batch = 4, .client_lr = 0.5f, .proximal = 2, .shuffle = false},
                      .wire = {.down = &find_codec("f32"), .up = &find_codec("f32")}};
  const JobMessage message = decode_job(encode(job_message(cohort)));
  const Cohort elsewhere = cohort_of(message);
  EXPECT_EQ(named_model(message.model), model);
  EXPECT_EQ(elsewhere.code, cohort.code);
  EXPECT_EQ(elsewhere.seed, 5u);
  EXPECT_EQ(elsewhere.draw, 6u);
  EXPECT_EQ(elsewhere.rows, 7u);
  EXPECT_EQ(elsewhere.how, cohort.how);
  EXPECT_EQ(elsewhere.wire.down, cohort.wire.down);
}

TEST(Message, ADeviceRebuildsTheServersSubModelFromTheMessage) {
  const JobMessage message = job();
  const std::vector<uint32_t> clients{95, 96, 97, 99, 98};
  const auto server =
      draw_submodels(find_model(message.model), message.code, message.seed, message.draw, clients);
  const SubModel device = named_submodel(decode_job(encode(message)));
  ASSERT_EQ(device.tensors().size(), server[3].tensors().size());
  for (size_t t = 0; t < device.tensors().size(); ++t) {
    EXPECT_EQ(device.tensors()[t].rows, server[3].tensors()[t].rows);
  }
  EXPECT_NE(device.tensors()[2].rows, server[0].tensors()[2].rows) << "each client has its own";
  EXPECT_EQ(device.spec(), server[3].spec());
  EXPECT_EQ(device.spec().layers[3].output_scale, 2);
  JobMessage plain = message;
  plain.code.rescale = false;
  EXPECT_NE(named_submodel(decode_job(encode(plain))).spec(), device.spec());
}

TEST(Message, ADeviceOfAnyTierRebuildsItsSubModelOfLayersWithTheirOwnCodes) {
  JobMessage message = job();
  message.model = "emnist-cnn";
  message.code.layers = {{"conv2", {.family = "random", .keep = 0.75}}, {"dense1", {.family = "cwc"}}};
  message.code.tiers = {1.0, 0.5, 0.25};
  const std::vector<uint32_t> clients{95, 96, 97, 98, 99};
  const auto server =
      draw_submodels(find_model(message.model), message.code, message.seed, message.draw, clients);
  std::vector<size_t> sizes;
  for (message.row = 0; message.row < message.rows; ++message.row) {
    message.client = clients[message.row];
    const JobMessage got = decode_job(encode(message));
    EXPECT_EQ(got.code.layers.at("conv2").family, "random");
    EXPECT_EQ(got.code.layers.at("conv2").keep, 0.75);
    EXPECT_EQ(got.code.layers.at("dense1").keep, 0);
    EXPECT_EQ(got.code.tiers, message.code.tiers);
    EXPECT_EQ(envelope_size(message) + message.weights.size(), encode(message).size());
    const SubModel device = named_submodel(got);
    ASSERT_EQ(device.size(), server[message.row].size());
    EXPECT_EQ(device.spec(), server[message.row].spec());
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
  JobMessage message = job();
  message.local.shuffle = true;
  message.down = message.up = "";
  message.weights.clear();
  std::vector<std::byte> bytes = encode(message);
  const size_t flag = bytes.size() - 22;  // before another, a number, two empty names and an empty list
  EXPECT_EQ(bytes[flag], std::byte{1});
  bytes[flag] = std::byte{2};
  EXPECT_THROW(decode_job(bytes), Error);

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
