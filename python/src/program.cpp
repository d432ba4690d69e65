#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "fleet.h"
#include "orders.h"
#include "subfleet/error.h"
#include "subfleet/program_fleet.h"
#include "subfleet/random.h"
#include "threads.h"

namespace subfleet::python {
namespace {

// A client's work, which Python may keep.
struct BoundClientJob {
  ClientJob job;
  SubModel submodel;
};

using Trained = std::tuple<In<float>, uint32_t, double, double>;

// A program that is a Python object with the attributes of ClientProgram. Called by a thread without the GIL.
class PythonProgram final : public ClientProgram {
 public:
  explicit PythonProgram(nb::object object) : object_(std::move(object)) {
    clients_ = read<uint32_t>("clients");
    classes_ = read<uint32_t>("classes");
    const auto [channels, height, width] = read<std::tuple<size_t, size_t, size_t>>("input");
    input_ = {.channels = channels, .height = height, .width = width};
    fingerprint_ = read<uint64_t>("data_fingerprint");
    jobs_at_once_ = read<size_t>("jobs_at_once");
    if (nb::hasattr(object_, "initial_weights")) {
      const auto initial = read<In<float>>("initial_weights");
      initial_.assign(initial.data(), initial.data() + initial.size());
    }
  }
  ~PythonProgram() override {
    const WithGil acquire;
    object_.reset();
  }

  uint32_t clients() const override { return clients_; }
  uint32_t classes() const override { return classes_; }
  Shape input() const override { return input_; }
  uint64_t data_fingerprint() const override { return fingerprint_; }
  size_t jobs_at_once() const override { return jobs_at_once_; }
  std::vector<float> initial_weights() const override { return initial_; }

  void train(std::span<ClientJob> jobs) override {
    const WithGil acquire;
    nb::list asked;
    for (ClientJob& job : jobs) asked.append(nb::cast(BoundClientJob{std::move(job), *job.submodel}));
    const nb::object answers = object_.attr("train")(asked);
    if (nb::len(answers) != jobs.size())
      throw bad_request("train()", fmt::format("must answer {} jobs, not {}", jobs.size(), nb::len(answers)));
    for (size_t i = 0; i < jobs.size(); ++i) {
      Trained trained;
      if (!nb::try_cast(nb::object(answers[i]), trained)) {
        throw bad_request("train()",
                          "must answer a job by (trained weights, examples, loss, accuracy), as numbers");
      }
      const auto& [weights, examples, loss, accuracy] = trained;
      check_size("trained weights", weights.size(), nb::cast<BoundClientJob&>(asked[i]).submodel.size());
      jobs[i].weights.assign(weights.data(), weights.data() + weights.size());
      jobs[i].result = {.examples = examples, .loss = loss, .accuracy = accuracy};
    }
  }

  Evaluation test(std::span<const float> weights) override {
    const WithGil acquire;
    std::tuple<uint64_t, uint64_t, double> tested;
    const std::vector<float> copy(weights.begin(), weights.end());
    if (!nb::try_cast(object_.attr("test")(array_of(copy)), tested))
      throw bad_request("test()", "must return (examples, how many are right, sum of their losses)");
    const auto& [examples, correct, loss] = tested;
    return {.examples = examples, .correct = correct, .loss = loss};
  }

 private:
  template <typename T>
  T read(const char* name) const {
    T value{};
    if (!nb::hasattr(object_, name) || !nb::try_cast(object_.attr(name), value))
      throw bad_request("program", fmt::format("its attribute '{}' is missing or of another type", name));
    return value;
  }

  nb::object object_;
  uint32_t clients_ = 0, classes_ = 0;
  Shape input_;
  uint64_t fingerprint_ = 0;
  size_t jobs_at_once_ = 1;
  std::vector<float> initial_;
};

struct BoundProgramFleet final : BoundFleet {
  BoundProgramFleet(nb::object object, const std::string& device, const std::string& kernels,
                    uint32_t workers_)
      : program(std::move(object)) {
    const WithoutGil release;
    pool = std::make_unique<ThreadPool>(0);
    fleet = std::make_unique<ProgramFleet>(program, *pool);
    workers = {.device = device, .kernels = kernels, .threads = workers_};
    data = DataOptions{.source = std::string(kArrays)};
  }
  // The program goes before what BoundFleet holds, but its fleet uses it.
  ~BoundProgramFleet() override { fleet.reset(); }

  PythonProgram program;
};

}  // namespace

void bind_program(nb::module_& m) {
  nb::class_<BoundClientJob>(m, "ClientJob", "A client's work in a round, for a ProgramFleet's program.")
      .def_prop_ro("client", [](const BoundClientJob& self) { return self.job.client; })
      .def_ro("submodel", &BoundClientJob::submodel, "What the client holds.")
      .def_prop_ro(
          "weights",
          [](nb::pointer_and_handle<BoundClientJob> self) {
            return view_of(std::span<const float>(self.p->job.weights), self.h);
          },
          "The sub-model's weights, as they arrive at the client.")
      .def_prop_ro("epochs", [](const BoundClientJob& self) { return self.job.how.epochs; })
      .def_prop_ro("batch", [](const BoundClientJob& self) { return self.job.how.batch; })
      .def_prop_ro("client_lr", [](const BoundClientJob& self) { return self.job.how.client_lr; })
      .def_prop_ro("momentum", [](const BoundClientJob& self) { return self.job.how.momentum; })
      .def_prop_ro("weight_decay", [](const BoundClientJob& self) { return self.job.how.weight_decay; })
      .def_prop_ro("proximal", [](const BoundClientJob& self) { return self.job.how.proximal; })
      .def_prop_ro(
          "random_seed",
          [](const BoundClientJob& self) {
            Random random({.seed = self.job.seed,
                           .round = self.job.draw,
                           .client = self.job.client,
                           .purpose = Purpose::kProgram});
            return random.below(uint32_t{1} << 31);
          },
          "For what the program draws itself, as dropout: of the run's seed, the round and the client.")
      .def(
          "example_orders",
          [](const BoundClientJob& self, uint32_t examples) {
            return orders_of({.seed = self.job.seed,
                              .round = self.job.draw,
                              .client = self.job.client,
                              .purpose = Purpose::kBatchOrder},
                             self.job.how, examples);
          },
          nb::arg("examples"), "The order in which the client sees its examples in each epoch.")
      .def("__repr__", [](const BoundClientJob& self) {
        return fmt::format("ClientJob(client {}, {} weights)", self.job.client, self.submodel.size());
      });
  nb::class_<BoundProgramFleet, BoundFleet>(
      m, "ProgramFleet",
      "Clients that a program of yours trains: an object with clients, classes, input (channels, height, "
      "width), data_fingerprint (a whole number that differs with the data), jobs_at_once, train(jobs), "
      "which "
      "returns (trained weights, examples, loss, accuracy) for each ClientJob, and test(weights), which "
      "returns (examples, how many are right, sum of their losses). With initial_weights, runs begin with "
      "these.")
      .def(
          "__init__",
          [](BoundProgramFleet* self, nb::object program, const std::string& device,
             const std::string& kernels, uint32_t workers) {
            new (self) BoundProgramFleet(std::move(program), device, kernels, workers);
          },
          nb::arg("program"), nb::arg("device") = "python", nb::arg("kernels") = "", nb::arg("workers") = 1,
          "`device`, `kernels` and `workers` are what a run's provenance says of it.");
}

}  // namespace subfleet::python
