#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/error.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/thread_pool.h"

namespace subfleet::python {
namespace {

// An optimizer with threads of its own.
struct Optimizer {
  OptimizerOptions options;
  size_t weights;
  ThreadPool pool;
  std::unique_ptr<ServerOptimizer> rule;

  Optimizer(OptimizerOptions chosen, size_t count, size_t threads)
      : options(std::move(chosen)), weights(count), pool(threads) {
    if (options.lr == 0) options.lr = default_server_lr(options.optimizer);
    rule = make_server_optimizer(options, weights);
  }

  void step(const InOut<float>& values, const PartialSum& updates, const std::vector<JobResult>& results,
            std::optional<double> lr) {
    check_size("weights", values.size(), weights);
    check_size("updates", updates.size(), weights);
    const nb::gil_scoped_release release;
    if (!rule->step(span_of(values), updates, {.lr = lr.value_or(options.lr), .results = results}, pool))
      throw failure(options.optimizer, "the weights are no longer finite; a lower lr may help");
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
      .def_rw("bytes_up", &JobResult::bytes_up);
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
