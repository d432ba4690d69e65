#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/config.h"
#include "subfleet/error.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/thread_pool.h"

namespace subfleet::python {
namespace {

// The options checked as the settings server.* are, with the rate that 0 stands for.
OptimizerOptions checked_options(const OptimizerOptions& options) {
  Config config;
  config.server = options;
  for (const Setting& setting : settings(config)) {
    if (setting.name.starts_with("server.")) set(config, setting.name, setting.value);
  }
  validate(config);
  return config.server;
}

// An optimizer with threads of its own. It keeps the GIL, which is the lock of the sums that it reads.
struct Optimizer {
  OptimizerOptions options;
  size_t weights;
  ThreadPool pool;
  std::unique_ptr<ServerOptimizer> rule;

  Optimizer(const OptimizerOptions& chosen, size_t count, size_t threads)
      : options(checked_options(chosen)),
        weights(count),
        pool(threads),
        rule(make_server_optimizer(options, weights)) {}

  void step(const InOut<float>& values, const PartialSum& updates, const std::vector<JobResult>& results,
            std::optional<double> lr) {
    check_size("weights", values.size(), weights);
    check_size("updates", updates.size(), weights);
    if (lr && !(*lr >= 0 && *lr <= 1e6))
      throw bad_request("lr", fmt::format("{} is not between 0 and 1000000", *lr));
    if (wants_squared_norms(options.optimizer) && results.empty()) {
      throw bad_request(
          "results",
          fmt::format("{} needs those of the clients, with examples and squared norms", options.optimizer));
    }
    const std::vector<float> before(values.data(), values.data() + values.size());
    std::vector<std::vector<float>> moments;
    for (const ServerOptimizer::MutableMoment& moment : rule->moments())
      moments.emplace_back(moment.values.begin(), moment.values.end());
    if (rule->step(span_of(values), updates, {.lr = lr.value_or(options.lr), .results = results}, pool))
      return;
    std::ranges::copy(before, values.data());
    for (size_t i = 0; i < moments.size(); ++i)
      std::ranges::copy(moments[i], rule->moments()[i].values.begin());
    throw failure(options.optimizer, "the weights would no longer be finite; a lower lr may help");
  }
};

void bind_results(nb::module_& m) {
  nb::enum_<JobOutcome>(m, "JobOutcome", "What became of a job; only the updates of the trained are summed.")
      .value("trained", JobOutcome::kTrained)
      .value("diverged", JobOutcome::kDiverged)
      .value("lost", JobOutcome::kLost)
      .value("late", JobOutcome::kLate)
      .value("rejected", JobOutcome::kRejected);
  nb::class_<JobResult>(m, "JobResult", "What one client of a round reports.")
      .def(
          "__init__",
          [](JobResult* self, uint32_t examples, double loss, double accuracy, double squared_norm,
             JobOutcome outcome) {
            new (self) JobResult{.outcome = outcome,
                                 .examples = examples,
                                 .loss = loss,
                                 .accuracy = accuracy,
                                 .squared_norm = squared_norm};
          },
          nb::arg("examples"), nb::arg("loss") = 0.0, nb::arg("accuracy") = 0.0,
          nb::arg("squared_norm") = 0.0, nb::arg("outcome") = JobOutcome::kTrained)
      .def_rw("outcome", &JobResult::outcome)
      .def_rw("why", &JobResult::why, "Of what was rejected.")
      .def_rw("examples", &JobResult::examples)
      .def_rw("loss", &JobResult::loss)
      .def_rw("accuracy", &JobResult::accuracy)
      .def_rw("squared_norm", &JobResult::squared_norm, "Of its update; `fedexp` wants it.")
      .def_rw("bytes_down", &JobResult::bytes_down)
      .def_rw("bytes_up", &JobResult::bytes_up)
      .def("__repr__", [](const JobResult& r) {
        return fmt::format("JobResult({}, {} examples, loss {:.4f}, accuracy {:.4f})",
                           outcome_name(r.outcome), r.examples, r.loss, r.accuracy);
      });
}

}  // namespace

void bind_optimizer(nb::module_& m) {
  bind_results(m);
  nb::class_<Optimizer>(m, "ServerOptimizer", "Steps the whole model's weights from a round's mean updates.")
      .def(
          "__init__",
          [](Optimizer* self, const std::string& name, size_t weights, double lr, double beta1, double beta2,
             double tau, const std::string& mean, const std::string& unheld, size_t threads) {
            new (self) Optimizer({.optimizer = name,
                                  .lr = lr,
                                  .beta1 = beta1,
                                  .beta2 = beta2,
                                  .tau = tau,
                                  .mean = mean,
                                  .unheld = unheld},
                                 weights, threads);
          },
          nb::arg("name"), nb::arg("weights"), nb::arg("lr") = 0.0, nb::arg("beta1") = 0.9,
          nb::arg("beta2") = 0.99, nb::arg("tau") = 1e-3, nb::arg("mean") = "holders",
          nb::arg("unheld") = "freeze", nb::arg("threads") = 1,
          "One of optimizer_names(), for a model of so many weights. lr = 0 is the optimizer's own default.")
      .def("step", &Optimizer::step, nb::arg("weights").noconvert(), nb::arg("updates"),
           nb::arg("results") = std::vector<JobResult>{}, nb::arg("lr") = nb::none(),
           "Moves the weights, a float32 array, where they lie, with its rate or this round's own. `fedexp` "
           "also wants the clients' results with "
           "their examples and squared norms.")
      .def_prop_ro("lr", [](const Optimizer& optimizer) { return optimizer.options.lr; })
      .def("__repr__",
           [](const Optimizer& o) {
             return fmt::format("ServerOptimizer({}, {} weights, lr={})", o.options.optimizer, o.weights,
                                o.options.lr);
           })
      .def_prop_ro(
          "moments",
          [](nb::pointer_and_handle<Optimizer> self) {
            nb::typed<nb::dict, nb::str, Out<float>> all;
            for (const ServerOptimizer::MutableMoment& moment : self.p->rule->moments())
              all[moment.name.c_str()] = view_of(moment.values, self.h);
            return all;
          },
          "What it keeps between rounds, one value per weight each, as views that can be written to.");
  m.def("optimizer_names", &server_optimizer_names, "The server's optimizers.");
}

}  // namespace subfleet::python
