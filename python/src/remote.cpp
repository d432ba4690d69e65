#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "fleet.h"
#include "progress_lines.h"
#include "run.h"
#include "subfleet/data/absent.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/remote_fleet.h"
#include "threads.h"

namespace subfleet::python {
namespace {

// A transport that is a Python object with the methods of Transport. Called by a thread without the GIL.
class PythonTransport final : public Transport {
 public:
  explicit PythonTransport(nb::object object) : object_(std::move(object)) {
    for (const char* method : {"send", "next", "close", "on_result"}) {
      if (!nb::hasattr(object_, method))
        throw bad_request("transport", fmt::format("has no method {}()", method));
    }
  }
  ~PythonTransport() override {
    const WithGil acquire;
    object_.reset();
  }

  void send(const Outgoing& message) override {
    const WithGil acquire;
    object_.attr("send")(message.number, std::string(kind_name(message.kind)), message.client,
                         bytes_of(message.message));
  }

  std::optional<Arrival> next(double seconds) override {
    const WithGil acquire;
    const nb::object arrival = object_.attr("next")(seconds);
    if (arrival.is_none()) return std::nullopt;
    if (!nb::isinstance<Arrival>(arrival))
      throw bad_request("transport", "next() must return an Arrival or None");
    return std::move(nb::cast<Arrival&>(arrival));  // it was made for us
  }

  Traffic close(uint64_t number) override {
    const WithGil acquire;
    std::pair<uint64_t, uint64_t> moved;
    if (!nb::try_cast(object_.attr("close")(number), moved))
      throw bad_request("transport", "close() must return the bytes down and up that moved, as (0, 0)");
    return {moved.first, moved.second};
  }

  void on_result(uint64_t number, const JobResult& result) override {
    const WithGil acquire;
    object_.attr("on_result")(number, std::string(outcome_name(result.outcome)), result.why);
  }

 private:
  nb::object object_;
};

// Clients elsewhere; states and tests here.
struct BoundRemoteFleet final : BoundFleet {
  BoundRemoteFleet(const Config& config, nb::object python, uint32_t clients, bool test,
                   const std::string& device, size_t threads)
      : transport(std::move(python)) {
    const WithoutGil release;
    const ModelSpec model = resolve_model(config.model);
    pool = std::make_unique<ThreadPool>(threads);
    here = std::make_unique<LocalFleet>(
        test ? open_split_federation(config.data)
             : SplitFederation(
                   std::make_unique<AbsentFederation>(model.input, static_cast<uint32_t>(class_count(model))),
                   0, 0.0),
        device, *pool, config.run.eval_samples);
    if (clients == 0) clients = here->clients();
    if (clients == 0)
      throw bad_request("clients",
                        "must be given if the server has no data: how many clients the federation has");
    fleet = std::make_unique<RemoteFleet>(
        transport, *here,
        RemoteOptions{
            .clients = clients,
            .patience = {.deadline = config.round.deadline, .min_replies = config.round.min_replies}});
    workers = {.device = device, .threads = static_cast<uint32_t>(pool->threads())};
    eval_samples = config.run.eval_samples;
    if (test) data = config.data;
  }
  // Members go before what BoundFleet holds, but its fleet uses them, and `here` its pool.
  ~BoundRemoteFleet() override { fleet.reset(); }

  PythonTransport transport;
  std::unique_ptr<LocalFleet> here;
};

void bind_arrivals(nb::module_& m) {
  nb::class_<Arrival>(m, "Arrival", "What a transport hears of the message with that number.")
      .def_static(
          "reply",
          [](uint64_t number, const nb::bytes& bytes) {
            const std::span<const std::byte> all = span_of(bytes);
            return Arrival{
                .number = number, .kind = Arrival::Kind::kReply, .reply = {all.begin(), all.end()}};
          },
          nb::arg("number"), nb::arg("reply"), "Bytes that claim to be the reply.")
      .def_static(
          "lost",
          [](uint64_t number, const std::string& why) {
            return Arrival{.number = number, .kind = Arrival::Kind::kLost, .why = why};
          },
          nb::arg("number"), nb::arg("why"), "Nobody will answer.")
      .def_static(
          "refused",
          [](uint64_t number, const std::string& why) {
            return Arrival{.number = number, .kind = Arrival::Kind::kRefused, .why = why};
          },
          nb::arg("number"), nb::arg("why"), "An answer that is no reply.")
      .def("__repr__", [](const Arrival& a) {
        if (a.kind == Arrival::Kind::kReply)
          return fmt::format("Arrival(reply to {}, {} bytes)", a.number, a.reply.size());
        return fmt::format("Arrival({} {}: {})", a.number,
                           a.kind == Arrival::Kind::kLost ? "lost" : "refused", a.why);
      });
}

}  // namespace

void bind_remote(nb::module_& m) {
  bind_arrivals(m);
  nb::class_<BoundRemoteFleet, BoundFleet>(
      m, "RemoteFleet",
      "Clients elsewhere, behind a transport: an object with send(number, kind, client, message), where kind "
      "is "
      "'train'; next(seconds), which returns an Arrival or None; on_result(number, outcome, why); and "
      "close(number), after which nothing more is wanted of a message and which returns (bytes down, bytes "
      "up) "
      "that moved for it. Nothing that arrives is trusted.")
      .def(
          "__init__",
          [](BoundRemoteFleet* self, const Config& config, nb::object transport, uint32_t clients, bool test,
             const std::string& device, size_t threads) {
            new (self) BoundRemoteFleet(config, std::move(transport), clients, test, device, threads);
          },
          nb::arg("config"), nb::arg("transport"), nb::arg("clients") = 0, nb::arg("test") = true,
          nb::arg("device") = "cpu", nb::arg("threads") = 0,
          "`test`: whether the server has the data of the settings data.*, to test with. 0 clients: as many "
          "as these data have.");
  nb::class_<ProgressLines>(m, "ProgressLines", "What `subfleet train` shows without a terminal.")
      .def(
          "__init__",
          [](ProgressLines* self, BoundRun& run) { new (self) ProgressLines(run.run(), run.bytes()); },
          nb::arg("run"), "For the rounds that the run has yet to do.")
      .def(
          "after",
          [](ProgressLines& self, BoundRun& run, const RoundRecord& record) {
            return self.after(run.run(), record);
          },
          nb::arg("run"), nb::arg("record"), "The lines to show after a round; often empty.");
}

}  // namespace subfleet::python
