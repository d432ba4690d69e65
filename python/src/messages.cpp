#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "arrays.h"
#include "bindings.h"
#include "server/message.h"
#include "subfleet/random.h"

namespace subfleet::python {
namespace {

std::vector<std::byte> copy_of(const nb::bytes& bytes) {
  const std::span<const std::byte> all = span_of(bytes);
  return {all.begin(), all.end()};
}

RandomKey key_of(const JobMessage& job, Purpose purpose) {
  return {.seed = job.seed, .round = job.draw, .client = job.client, .purpose = purpose};
}

// What arrived at the client.
std::vector<float> given_weights(const JobMessage& job) {
  std::vector<float> weights(named_submodel(job).size());
  find_codec(job.down).decode(job.weights, key_of(job, Purpose::kWireDown), weights);
  return weights;
}

// The update is the f32 difference, as every trainer has it.
UpdateMessage reply(const JobMessage& job, const In<float>& trained, uint32_t examples, double loss,
                    double accuracy) {
  const nb::gil_scoped_release release;
  std::vector<float> update = given_weights(job);
  check_size("trained weights", trained.size(), update.size());
  for (size_t i = 0; i < update.size(); ++i) update[i] = trained.data()[i] - update[i];
  UpdateMessage message{.draw = job.draw,
                        .row = job.row,
                        .examples = examples,
                        .loss = loss,
                        .accuracy = accuracy,
                        .update = {}};
  find_codec(job.up).encode(update, key_of(job, Purpose::kWireUp), message.update);
  return message;
}

void bind_job_message(nb::module_& m) {
  nb::class_<JobMessage>(
      m, "JobMessage",
      "What travels to a client: which sub-model it gets, by the few numbers that name it, "
      "how to train it, and its weights as the codec `down` has encoded them.")
      .def(nb::init<>())
      .def_rw("model", &JobMessage::model, "A name of the zoo, or a model file's text.")
      .def_prop_rw(
          "family", [](const JobMessage& job) { return job.code.family; },
          [](JobMessage& job, const std::string& family) { job.code.family = family; })
      .def_prop_rw(
          "keep", [](const JobMessage& job) { return job.code.keep; },
          [](JobMessage& job, double keep) { job.code.keep = keep; })
      .def_prop_rw(
          "tiers", [](const JobMessage& job) { return job.code.tiers; },
          [](JobMessage& job, const std::vector<double>& tiers) { job.code.tiers = tiers; })
      .def_prop_rw(
          "rescale", [](const JobMessage& job) { return job.code.rescale; },
          [](JobMessage& job, bool rescale) { job.code.rescale = rescale; })
      .def_rw("seed", &JobMessage::seed)
      .def_rw("draw", &JobMessage::draw, "Which draw of clients, masks and orders.")
      .def_rw("rows", &JobMessage::rows, "Clients of the round.")
      .def_rw("row", &JobMessage::row, "This client's, in the round's code books.")
      .def_rw("client", &JobMessage::client)
      .def_prop_rw(
          "epochs", [](const JobMessage& job) { return job.local.epochs; },
          [](JobMessage& job, uint32_t epochs) { job.local.epochs = epochs; })
      .def_prop_rw(
          "batch", [](const JobMessage& job) { return job.local.batch; },
          [](JobMessage& job, uint32_t batch) { job.local.batch = batch; })
      .def_prop_rw(
          "client_lr", [](const JobMessage& job) { return job.local.client_lr; },
          [](JobMessage& job, float lr) { job.local.client_lr = lr; })
      .def_prop_rw(
          "shuffle", [](const JobMessage& job) { return job.local.shuffle; },
          [](JobMessage& job, bool shuffle) { job.local.shuffle = shuffle; })
      .def_rw("down", &JobMessage::down, "The codec of the weights.")
      .def_rw("up", &JobMessage::up, "The codec of the update.")
      .def_prop_rw(
          "weights", [](const JobMessage& job) { return bytes_of(job.weights); },
          [](JobMessage& job, const nb::bytes& weights) { job.weights = copy_of(weights); },
          "As they travel.")
      .def("submodel", &named_submodel, nb::call_guard<nb::gil_scoped_release>(),
           "The sub-model that the message names.")
      .def(
          "given_weights",
          [](const JobMessage& job) {
            std::vector<float> weights;
            {
              const nb::gil_scoped_release release;
              weights = given_weights(job);
            }
            return array_of(std::move(weights));
          },
          "The sub-model's weights, decoded. Raises Error for a message that is malformed.")
      .def(
          "reply", &reply, nb::arg("trained"), nb::arg("examples"), nb::arg("loss"), nb::arg("accuracy"),
          "The answer of a client that has trained the given weights to these, on so many examples; loss and "
          "accuracy are running means over its epochs, as it trains.")
      .def(
          "encode", [](const JobMessage& job) { return bytes_of(encode(job)); }, "As it travels.")
      .def_static(
          "decode", [](const nb::bytes& bytes) { return decode_job(span_of(bytes)); }, nb::arg("message"),
          "Raises Error for bytes that are no such message.");
}

}  // namespace

void bind_messages(nb::module_& m) {
  nb::class_<UpdateMessage>(m, "UpdateMessage",
                            "What travels back: a client's result, and its update as the codec `up` has "
                            "encoded it.")
      .def(nb::init<>())
      .def_rw("draw", &UpdateMessage::draw)
      .def_rw("row", &UpdateMessage::row)
      .def_rw("examples", &UpdateMessage::examples)
      .def_rw("loss", &UpdateMessage::loss)
      .def_rw("accuracy", &UpdateMessage::accuracy)
      .def_prop_rw(
          "update", [](const UpdateMessage& message) { return bytes_of(message.update); },
          [](UpdateMessage& message, const nb::bytes& update) { message.update = copy_of(update); },
          "As it travels.")
      .def(
          "encode", [](const UpdateMessage& message) { return bytes_of(encode(message)); }, "As it travels.")
      .def_static(
          "decode", [](const nb::bytes& bytes) { return decode_update(span_of(bytes)); }, nb::arg("message"),
          "Raises Error for bytes that are no such message.");
  bind_job_message(m);
}

}  // namespace subfleet::python
