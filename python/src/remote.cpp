#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <cstdlib>

#include "arrays.h"
#include "bindings.h"
#include "fleet.h"
#include "run.h"
#include "subfleet/data/absent.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/remote_fleet.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"

namespace subfleet::python {
namespace {

// A transport that is a Python object with the methods of Transport. Called by a thread without the GIL.
class PythonTransport final : public Transport {
 public:
  explicit PythonTransport(nb::object object) : object_(std::move(object)) {}
  ~PythonTransport() override {
    const nb::gil_scoped_acquire acquire;
    object_.reset();
  }

  void send(const Outgoing& message) override {
    const nb::gil_scoped_acquire acquire;
    object_.attr("send")(message.number, std::string(kind_name(message.kind)), message.client,
                         bytes_of(message.message));
  }

  std::optional<Arrival> next(double seconds) override {
    const nb::gil_scoped_acquire acquire;
    const nb::object arrival = object_.attr("next")(seconds);
    if (arrival.is_none()) return std::nullopt;
    return std::move(nb::cast<Arrival&>(arrival));  // it was made for us
  }

  Traffic close(uint64_t number) override {
    const nb::gil_scoped_acquire acquire;
    const auto [down, up] = nb::cast<std::pair<uint64_t, uint64_t>>(object_.attr("close")(number));
    return {down, up};
  }

  void on_result(uint64_t number, const JobResult& result) override {
    const nb::gil_scoped_acquire acquire;
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
    const nb::gil_scoped_release release;
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
  }
  // Members go before what BoundFleet holds, but its fleet uses them, and `here` its pool.
  ~BoundRemoteFleet() override { fleet.reset(); }

  PythonTransport transport;
  std::unique_ptr<LocalFleet> here;
};

// The lines that `subfleet train` shows without a terminal, for callers that print them elsewhere.
class ProgressLines {
 public:
  explicit ProgressLines(BoundRun& run)
      : stream_(::open_memstream(&text_, &size_)),
        progress_(stream_, Progress::Mode::kLines,
                  {.rounds = run.run().config().run.rounds,
                   .start_round = run.run().round(),
                   .width = [] { return size_t{120}; }}),
        shown_(progress_, run.bytes()) {}
  ~ProgressLines() {
    progress_.finish();
    std::fclose(stream_);
    std::free(text_);
  }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  std::string after(BoundRun& run, const RoundRecord& record) {
    shown_.round_done(run.run(), record);
    std::fflush(stream_);
    std::string lines(text_ + taken_, size_ - taken_);
    taken_ = size_;
    return lines;
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0, taken_ = 0;
  std::FILE* stream_;
  Progress progress_;
  RoundProgress shown_;
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
          nb::arg("number"), nb::arg("why"), "An answer that is no reply.");
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
      .def(nb::init<BoundRun&>(), nb::arg("run"), "For the rounds that the run has yet to do.")
      .def("after", &ProgressLines::after, nb::arg("run"), nb::arg("record"),
           "The lines to show after a round; often empty.");
}

}  // namespace subfleet::python
