#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "config_values.h"
#include "orders.h"
#include "subfleet/config.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/random.h"
#include "subfleet/run.h"
#include "subfleet/trainer.h"
#include "threads.h"

namespace subfleet::python {
namespace {

std::vector<std::byte> copy_of(const nb::bytes& bytes) {
  const std::span<const std::byte> all = span_of(bytes);
  return {all.begin(), all.end()};
}

// A job's message and, once somebody has asked, what it says. For any number of threads, without the GIL.
class BoundJob : public JobMessage {
 public:
  explicit BoundJob(JobMessage message) : JobMessage(std::move(message)) {}

  const SubModel& submodel() {
    const std::lock_guard lock(mutex_);
    if (!submodel_) submodel_.emplace(named_submodel(*this));
    return *submodel_;
  }

  // What arrived at the client.
  const std::vector<float>& given_weights() {
    const size_t size = submodel().size();
    const std::lock_guard lock(mutex_);
    if (given_.empty()) {
      check_weights(*this, size);  // before the memory is taken
      std::vector<float> decoded(size);
      decode_weights(*this, decoded);
      given_ = std::move(decoded);
    }
    return given_;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::optional<SubModel> submodel_;
  std::vector<float> given_;
};

UpdateMessage reply(BoundJob& job, const In<float>& trained, uint32_t examples, double loss,
                    double accuracy) {
  const WithoutGil release;
  std::vector<float> update = job.given_weights();
  check_size("trained weights", trained.size(), update.size());
  make_update(span_of(trained), update);
  return update_message(job, {.examples = examples, .loss = loss, .accuracy = accuracy}, update);
}

}  // namespace

std::vector<Out<uint32_t>> orders_of(const RandomKey& key, const LocalTraining& how, uint32_t examples) {
  Random random(key);
  std::vector<uint32_t> order(examples);
  std::vector<Out<uint32_t>> all;
  for (uint32_t epoch = 0; epoch < how.epochs; ++epoch) {
    order_examples(random, how, epoch, order);
    all.push_back(array_of(order));
  }
  return all;
}

namespace {

Out<float> augmented(BoundJob& job, const In<float>& examples, uint32_t seen) {
  const Shape& shape = job.submodel().spec().input;
  if (examples.size() % shape.size() != 0) {
    throw bad_request("examples", fmt::format("{} values are not rows of {}", examples.size(), shape.size()));
  }
  std::vector<float> all(examples.size());
  for (size_t at = 0; at < all.size(); at += shape.size()) {
    augment(job_key(job, Purpose::kAugment), seen++, job.local, shape,
            span_of(examples).subspan(at, shape.size()), std::span(all).subspan(at, shape.size()));
  }
  return array_of(std::move(all));
}

JobMessage make_job(const ModelSpec& model, const Config& config, uint32_t round, uint32_t row,
                    uint32_t client, const In<float>& whole) {
  check_size("weights", whole.size(), parameter_count(model));
  const WithoutGil release;
  JobMessage job{.model = model_text(model),
                 .code = config.code,
                 .seed = config.run.seed,
                 .draw = draw_of(config, round),
                 .rows = config.round.clients,
                 .row = row,
                 .client = client,
                 .local = config.round,
                 .down = config.wire.down,
                 .up = config.wire.up,
                 .weights = {}};
  const SubModel submodel = named_submodel(job);
  std::vector<float> given(submodel.size());
  submodel.gather(span_of(whole), given);
  find_codec(job.down).encode(given, job_key(job, Purpose::kWireDown), job.weights);
  return job;
}

void bind_job_fields(nb::class_<BoundJob>& type) {
  type.def_ro("model", &JobMessage::model, "A name of the zoo, or a model file's text.")
      .def_prop_ro("family", [](const BoundJob& self) { return self.code.family; })
      .def_prop_ro("keep", [](const BoundJob& self) { return self.code.keep; })
      .def_prop_ro("rescale", [](const BoundJob& self) { return self.code.rescale; })
      .def_ro("seed", &JobMessage::seed)
      .def_ro("draw", &JobMessage::draw, "Which draw of clients, masks and orders.")
      .def_ro("rows", &JobMessage::rows, "Clients of the round.")
      .def_ro("row", &JobMessage::row, "This client's, in the round's code books.")
      .def_ro("client", &JobMessage::client)
      .def_prop_ro("epochs", [](const BoundJob& self) { return self.local.epochs; })
      .def_prop_ro("batch", [](const BoundJob& self) { return self.local.batch; })
      .def_prop_ro("client_lr", [](const BoundJob& self) { return self.local.client_lr; })
      .def_prop_ro("momentum", [](const BoundJob& self) { return self.local.momentum; })
      .def_prop_ro("weight_decay", [](const BoundJob& self) { return self.local.weight_decay; })
      .def_prop_ro("proximal", [](const BoundJob& self) { return self.local.proximal; })
      .def_prop_ro("shuffle", [](const BoundJob& self) { return self.local.shuffle; })
      .def_prop_ro("flip", [](const BoundJob& self) { return self.local.flip; })
      .def_prop_ro("crop", [](const BoundJob& self) { return self.local.crop; })
      .def_ro("down", &JobMessage::down, "The codec of the weights.")
      .def_ro("up", &JobMessage::up, "The codec of the update.")
      .def_prop_ro(
          "weights", [](const BoundJob& self) { return bytes_of(self.weights); }, "As they travel.");
}

void bind_job_message(nb::module_& m) {
  nb::class_<BoundJob> type(m, "JobMessage",
                            "What travels to a client: which sub-model it gets, by the few numbers that name "
                            "it, how to train it, and its weights as the codec `down` has encoded them.");
  bind_job_fields(type);
  type.def(
          "__init__",
          [](BoundJob* self, const ModelSpec& model, const Config& config, uint32_t round, uint32_t row,
             uint32_t client, const In<float>& weights) {
            new (self) BoundJob(make_job(model, config, round, row, client, weights));
          },
          nb::arg("model"), nb::arg("config"), nb::arg("round"), nb::arg("row"), nb::arg("client"),
          nb::arg("weights"),
          "The job of the client with that row in a round, counted from 1; `weights` are the whole model's.")
      .def("submodel", &BoundJob::submodel, nb::rv_policy::reference_internal, nb::call_guard<WithoutGil>(),
           "The sub-model that the message names.")
      .def(
          "given_weights",
          [](BoundJob& job) {
            std::vector<float> weights;
            {
              const WithoutGil release;
              weights = job.given_weights();
            }
            return array_of(std::move(weights));
          },
          "The sub-model's weights, decoded. Raises Error for a message that is malformed.")
      .def(
          "reply", &reply, nb::arg("trained"), nb::arg("examples"), nb::arg("loss"), nb::arg("accuracy"),
          "The answer of a client that has trained the given weights to these, on so many examples; loss and "
          "accuracy are running means over its epochs, as it trains.")
      .def(
          "example_orders",
          [](const BoundJob& job, uint32_t examples) {
            return orders_of(job_key(job, Purpose::kBatchOrder), job.local, examples);
          },
          nb::arg("examples"),
          "The order in which the client sees its examples in each epoch, as Subfleet's trainers have it.")
      .def(
          "augment", &augmented, nb::arg("examples"), nb::arg("seen"),
          "Examples, flat and one after the other, as the client sees them: mirrored and moved as `flip` and "
          "`crop` say. `seen` is how many it has seen before.")
      .def("__repr__",
           [](const BoundJob& job) {
             return fmt::format("JobMessage(client {}, row {} of {}, draw {}, {} bytes)", job.client, job.row,
                                job.rows, job.draw, job.weights.size());
           })
      .def(
          "encode", [](const BoundJob& job) { return bytes_of(encode(job)); }, "As it travels.")
      .def_static(
          "decode",
          [](const nb::bytes& bytes) { return std::make_unique<BoundJob>(decode_job(span_of(bytes))); },
          nb::arg("message"), "Raises Error for bytes that are no such message.");
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
      .def("__repr__",
           [](const UpdateMessage& u) {
             return fmt::format("UpdateMessage(row {}, {} examples, loss {:.4f}, {} bytes)", u.row,
                                u.examples, u.loss, u.update.size());
           })
      .def(
          "encode", [](const UpdateMessage& message) { return bytes_of(encode(message)); }, "As it travels.")
      .def_static(
          "decode", [](const nb::bytes& bytes) { return decode_update(span_of(bytes)); }, nb::arg("message"),
          "Raises Error for bytes that are no such message.");
  bind_job_message(m);
  m.attr("MESSAGE_FORMAT") = kMessageFormat;
  m.def("check_peer", &check_peer, nb::arg("what"), nb::arg("number"), nb::arg("readers"), nb::arg("sender"),
        nb::arg("reader"),
        "Raises Error, in a line that says who must update, unless the sender's number is the reader's.");
  m.def(
      "example_orders",
      [](const Config& config, uint32_t round, uint32_t client, uint32_t examples) {
        return orders_of({.seed = config.run.seed,
                          .round = draw_of(config, round),
                          .client = client,
                          .purpose = Purpose::kBatchOrder},
                         config.round, examples);
      },
      nb::arg("config"), nb::arg("round"), nb::arg("client"), nb::arg("examples"),
      "The order in which a client sees its examples in each of its round.epochs epochs: what Subfleet's own "
      "trainers do, for whoever trains elsewhere and wants the same.");
}

}  // namespace subfleet::python
