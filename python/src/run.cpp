#include "run.h"

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <variant>

#include "arrays.h"
#include "bindings.h"
#include "config_values.h"
#include "progress_lines.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/chart.h"
#include "subfleet/error.h"
#include "subfleet/report/curves.h"
#include "subfleet/store/session.h"
#include "threads.h"

namespace subfleet::python {
namespace {

using Path = std::optional<std::filesystem::path>;
using SharedFleet = std::shared_ptr<BoundFleet>;

SharedFleet local_fleet(const Config& config, const std::string& device, size_t threads) {
  return std::make_shared<BoundLocalFleet>(config, device, threads);
}

// Throws Error unless the fleet has the data of these settings.
void check_data(Config config, const BoundFleet& fleet) {
  if (!fleet.data) return;
  Config its = config;
  its.data = *fleet.data;
  its.run.eval_samples = fleet.eval_samples;
  for (Config* each : {&config, &its}) {
    if (!each->data.path.empty()) each->data.path = std::filesystem::weakly_canonical(each->data.path);
  }
  const std::vector<Setting> wanted = settings(config), there = settings(its);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].value == there[i].value) continue;
    throw bad_request(wanted[i].name,
                      fmt::format("is {} here and {} in the fleet; a run has its fleet's data and tests",
                                  wanted[i].value, there[i].value));
  }
}

std::unique_ptr<BoundRun> resume(const std::filesystem::path& given, const nb::dict& changed,
                                 SharedFleet fleet, const std::optional<std::string>& device,
                                 size_t threads) {
  const std::filesystem::path folder = std::filesystem::absolute(given);
  RunWriter writer = RunWriter::reopen(folder);
  const Config config = resumed_config(writer.config(), [&](Config& saved) { apply(saved, changed); });
  std::unique_ptr<BoundRun> run;
  {
    const WithoutGil release;
    const Provenance before = RunWriter::provenance(folder);
    if (!fleet) fleet = local_fleet(config, device.value_or(last_device(before)), threads);
    run = std::make_unique<BoundRun>(config, std::move(fleet), std::move(writer), before);
  }
  if (run->warning() && PyErr_WarnEx(PyExc_UserWarning, run->warning()->c_str(), 2) != 0)
    throw nb::python_error();
  return run;
}

// Whether a callback has returned False, Python's or numpy's. Anything else that counts as false is no
// answer.
bool is_false(nb::handle answer) {
  const auto type = nb::cast<std::string>(answer.type().attr("__name__"));
  return (type == "bool" || type == "bool_") && PyObject_IsTrue(answer.ptr()) == 0;
}

// Calls a Python function after each round, and looks for Ctrl-C before it. What either raises is kept until
// the round's files are written.
class PythonObserver final : public RoundObserver {
 public:
  PythonObserver(const SignalWatch& watch, nb::handle run, nb::handle callback)
      : watch_(watch), run_(run), callback_(callback) {}

  // Shows the rounds as lines of Python's sys.stdout.
  void print_to(nb::object out, BoundRun& run) {
    out_ = std::move(out);
    lines_.emplace(run.run(), run.bytes());
  }

  void round_done(Run& run, const RoundRecord& record) override {
    if (!lines_ && callback_.is_none()) return;
    const WithGil acquire;
    try {
      if (lines_) {
        out_.attr("write")(lines_->after(run, record));
        out_.attr("flush")();
      }
      if (!callback_.is_none()) stop_ = is_false(callback_(run_, record));
    } catch (const nb::python_error&) {
      raised_ = std::current_exception();
    }
  }

  bool stop() {
    if (raised_ || stop_) return true;
    const WithGil acquire;
    if (watch_.handler_raised()) raised_ = std::make_exception_ptr(nb::python_error());
    return raised_ != nullptr;
  }

  void raise() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  const SignalWatch& watch_;
  nb::handle run_, callback_;
  nb::object out_;
  std::optional<ProgressLines> lines_;
  bool stop_ = false;
  std::exception_ptr raised_;
};

bool train(nb::pointer_and_handle<BoundRun> self, nb::handle callback, bool progress) {
  const nb::module_ sys = nb::module_::import_("sys");
  const nb::object out = sys.attr("stdout");
  const bool shows = progress && !out.is_none();
  const bool bar = shows && out.is(sys.attr("__stdout__")) && nb::cast<bool>(out.attr("isatty")());
  if (bar) out.attr("flush")();  // the bar is C's
  const SignalWatch watch;
  PythonObserver observer(watch, self.h, callback);
  if (shows && !bar) observer.print_to(out, *self.p);
  const bool complete = interruptible(watch, [&](const std::atomic<bool>& flag) {
    return self.p->train(
        bar, observer, [&] { return observer.stop(); }, flag);
  });
  observer.raise();
  return complete;
}

void close(BoundRun& self) {
  interruptible([&](const auto& flag) { self.close(flag); });
}

// At the end of a `with`: the folder is finished, as when training is stopped, and closed in any case.
void exit(BoundRun& self, const nb::args& raised) {
  const nb::object diverged = nb::module_::import_("subfleet._core").attr("Diverged");
  const bool is_lost =
      !raised[0].is_none() && PyErr_GivenExceptionMatches(raised[0].ptr(), diverged.ptr()) != 0;
  try {
    if (!self.is_closed() && !is_lost) interruptible([&](const auto& flag) { self.finish(flag); });
  } catch (...) {
    close(self);
    throw;
  }
  close(self);
}

nb::typed<nb::dict, nb::str, int> outcomes(const RoundRecord& record) {
  nb::typed<nb::dict, nb::str, int> all;
  for (const JobOutcome outcome : kJobOutcomes)
    all[std::string(outcome_name(outcome)).c_str()] = record.outcomes[outcome];
  return all;
}

void bind_records(nb::module_& m) {
  nb::class_<RoundRecord>(m, "RoundRecord", "What one round did, as the log tells it.")
      .def_ro("round", &RoundRecord::round, "Counted from 1.")
      .def_ro("bytes_down", &RoundRecord::bytes_down)
      .def_ro("bytes_up", &RoundRecord::bytes_up)
      .def_ro("train_loss", &RoundRecord::train_loss, "Mean over the examples of the round.")
      .def_ro("train_accuracy_median", &RoundRecord::train_accuracy_median, "Over its clients.")
      .def_ro("train_accuracies", &RoundRecord::train_accuracies,
              "Of its clients: the lowest, the quartiles and the highest.")
      .def_ro("test_accuracy", &RoundRecord::test_accuracy, "Where the round was tested; otherwise None.")
      .def_ro("test_loss", &RoundRecord::test_loss)
      .def_prop_ro(
          "metrics",
          [](const RoundRecord& record) {
            nb::typed<nb::dict, nb::str, double> all;
            for (const auto& [name, value] : record.metrics) all[name.c_str()] = value;
            return all;
          },
          "What run.metrics names, where the round was tested.")
      .def_ro("server_rate", &RoundRecord::server_rate,
              "Of the round, if a schedule changes it; otherwise None.")
      .def_ro("client_rate", &RoundRecord::client_rate)
      .def_prop_ro("outcomes", &outcomes, "How many jobs were trained, diverged, lost, late, rejected.")
      .def_ro("seconds", &RoundRecord::seconds, "Wall time of the round.")
      .def("__repr__", [](const RoundRecord& r) {
        return fmt::format("RoundRecord(round={}, train_loss={:.4f}, train_accuracy_median={:.4f}{})",
                           r.round, r.train_loss, r.train_accuracy_median,
                           r.test_accuracy ? fmt::format(", test_accuracy={:.4f}", *r.test_accuracy) : "");
      });
  nb::class_<ClientResult>(m, "ClientResult", "What became of a client's job in a round.")
      .def_ro("client", &ClientResult::client)
      .def_prop_ro(
          "outcome", [](const ClientResult& r) { return std::string(outcome_name(r.result.outcome)); },
          "\"trained\", or why its update is not in the round's sum.")
      .def_prop_ro(
          "why", [](const ClientResult& r) { return r.result.why; }, "For a rejected or lost job.")
      .def_prop_ro("examples", [](const ClientResult& r) { return r.result.examples; })
      .def_prop_ro(
          "loss", [](const ClientResult& r) { return r.result.loss; }, "Running mean, as it trained.")
      .def_prop_ro("accuracy", [](const ClientResult& r) { return r.result.accuracy; })
      .def_prop_ro("bytes_down", [](const ClientResult& r) { return r.result.bytes_down; })
      .def_prop_ro("bytes_up", [](const ClientResult& r) { return r.result.bytes_up; })
      .def("__repr__", [](const ClientResult& r) {
        return fmt::format("ClientResult(client {}, {}, {} examples, accuracy {:.4f})", r.client,
                           outcome_name(r.result.outcome), r.result.examples, r.result.accuracy);
      });
  const auto of_tested = [](double (Evaluation::*figure)() const) {
    return [figure](const Evaluation& e) {
      return e.examples == 0 ? std::nullopt : std::optional<double>((e.*figure)());
    };
  };
  nb::class_<Evaluation>(m, "Evaluation", "How the whole model does on the test examples.")
      .def_ro("examples", &Evaluation::examples)
      .def_ro("correct", &Evaluation::correct)
      .def_prop_ro("accuracy", of_tested(&Evaluation::accuracy), "None without examples.")
      .def_prop_ro("loss", of_tested(&Evaluation::mean_loss), "Mean over the examples; None without.")
      .def("__repr__", [](const Evaluation& e) {
        if (e.examples == 0) return std::string("Evaluation(no examples)");
        return fmt::format("Evaluation(accuracy={:.4f}, loss={:.4f}, examples={})", e.accuracy(),
                           e.mean_loss(), e.examples);
      });
}

void bind_training(nb::class_<BoundRun>& run) {
  run.def("train", &train, nb::arg("callback").none() = nb::none(), nb::arg("progress") = false,
          "Trains to the last round, run.rounds, and finishes the folder. `callback(run, record)` is called "
          "after every round; if it returns False, training stops there and can go on. Ctrl-C stops within a "
          "round, which then counts as not begun. `progress` shows what `subfleet train` shows. Returns "
          "whether "
          "all rounds are done. Raises Diverged.")
      .def(
          "step",
          [](BoundRun& self) { return interruptible([&](const auto& flag) { return self.step(flag); }); },
          "One round, tested where its turn has come (run.eval_every) and written to the folder.")
      .def(
          "finish", [](BoundRun& self) { interruptible([&](const auto& flag) { self.finish(flag); }); },
          "Writes the folder's model.safetensors, report.html and a checkpoint; train() does it by itself.")
      .def(
          "evaluate",
          [](BoundRun& self, std::optional<uint32_t> client) {
            return interruptible([&](const auto& flag) { return self.evaluate(client, flag); });
          },
          nb::arg("client").none() = nb::none(),
          "Tests the whole model now, with the data's test examples or with those of one client.")
      .def_prop_ro(
          "clients",
          [](BoundRun& self) {
            const auto all = self.run().clients_of_round();
            return std::vector<ClientResult>(all.begin(), all.end());
          },
          "What became of each client's job in the last round that this process has done.")
      .def("close", &close,
           "Lets go of the folder as it is, so that another Run can go on with it; `with` finishes it first. "
           "This one trains no further.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Run"))
      .def("__exit__", &exit)
      .def(
          "set_weights",
          [](BoundRun& self, const In<float>& weights) {
            check_size("weights", weights.size(), self.run().weights().size());
            interruptible([&](const auto& flag) { self.set_weights(span_of(weights), flag); });
          },
          nb::arg("weights"), "Goes on from these; the optimizer's moments stay as they are.");
}

// A picture of how the accuracy rose, for notebooks; empty without rounds.
std::string curve_html(const std::string& name, const std::vector<RoundRecord>& rounds) {
  if (rounds.empty()) return "";
  ReportedRun run;
  run.name = name;
  run.rounds = rounds;
  const std::span<const ReportedRun> runs(&run, 1);
  const bool tested =
      std::ranges::any_of(rounds, [](const RoundRecord& r) { return r.test_accuracy.has_value(); });
  const Chart chart = tested ? accuracy_over_rounds(runs) : training_accuracy_over_rounds(runs);
  return fmt::format("<img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">", escape_markup(chart.title),
                     base64(svg_file(chart)));
}

std::string repr(BoundRun& self) {
  const Config& config = self.run().config();
  return fmt::format("Run({}, {}, {}, round {} of {}{})", self.run().model().name, config.code.family,
                     config.server.optimizer, self.run().round(), config.run.rounds,
                     self.folder() ? ", " + self.folder()->string() : "");
}

void bind_reprs(nb::module_& m, nb::class_<BoundRun>& run) {
  run.def("__repr__", &repr)
      .def(
          "_repr_html_",
          [](BoundRun& self) {
            return fmt::format("<p>{}</p>{}", escape_markup(repr(self)),
                               curve_html(self.run().model().name, self.records()));
          },
          "What a notebook shows.");
  m.def("curve_html", &curve_html, nb::arg("name"), nb::arg("rounds"),
        "A picture of these rounds' accuracies, as HTML; empty without rounds.");
}

}  // namespace

void bind_run(nb::module_& m) {
  bind_records(m);
  nb::class_<BoundRun> run(m, "Run",
                           "One federated training: the whole model's weights, the optimizer's state, the "
                           "round and the seed. The same settings and initial weights give the same bits, "
                           "whatever runs the jobs, here and in the program `subfleet`.");
  run.def(
         "__init__",
         [](BoundRun* self, const Config& config, SharedFleet fleet, const std::string& device,
            size_t threads, const std::optional<std::variant<std::filesystem::path, In<float>>>& init,
            const Path& out) {
           const auto* file = init ? std::get_if<std::filesystem::path>(&*init) : nullptr;
           const auto* weights = init ? std::get_if<In<float>>(&*init) : nullptr;
           const WithoutGil release;
           Config checked = config;
           if (fleet && fleet->is_of_arrays()) {
             checked.data = *fleet->data;
             checked.run.eval_samples = fleet->eval_samples;
           }
           validate(checked);
           if (!fleet) {
             fleet = local_fleet(checked, device, threads);
           } else {
             check_data(checked, *fleet);
           }
           new (self) BoundRun(checked, std::move(fleet), file != nullptr ? Path(*file) : Path(),
                               weights != nullptr ? span_of(*weights) : std::span<const float>(), out);
         },
         nb::arg("config"), nb::arg("fleet").none() = nb::none(), nb::arg("device") = "cpu",
         nb::arg("threads") = 0, nb::arg("init").none() = nb::none(), nb::arg("out").none() = nb::none(),
         "A run of these settings. `fleet`: who runs the jobs; by default a LocalFleet on `device` with "
         "`threads`. `init`: the weights to begin with, as a safetensors file or a flat array. `out`: a new "
         "folder for what "
         "`subfleet train --out` would write.")
      .def_static(
          "resume", &resume, nb::arg("folder"), nb::arg("settings") = nb::dict(),
          nb::arg("fleet").none() = nb::none(), nb::arg("device").none() = nb::none(), nb::arg("threads") = 0,
          "Goes on with the run of a folder, from its last checkpoint. `settings` may change how long it "
          "runs and how often it is tested and saved: {\"run.rounds\": 1000}. `device`: by default the "
          "one that it had.")
      .def_prop_ro(
          "round", [](BoundRun& self) { return self.run().round(); }, "Rounds done.")
      .def_prop_ro(
          "config", [](BoundRun& self) { return RunConfig(self.run().config()); },
          "Its settings, to be read.")
      .def_prop_ro(
          "model", [](BoundRun& self) { return ModelSpec(self.run().model()); }, "What is trained.")
      .def_prop_ro(
          "folder", [](const BoundRun& self) { return self.folder(); }, "Where it is written, or None.")
      .def_prop_ro(
          "weights",
          [](nb::pointer_and_handle<BoundRun> self) { return view_of(self.p->run().weights(), self.h); },
          "The whole model's weights: a read-only view, which the next round changes. Copy it to keep it.")
      .def_prop_ro(
          "tested_weights",
          [](nb::pointer_and_handle<BoundRun> self) {
            return view_of(self.p->run().tested_weights(), self.h);
          },
          "What is tested and saved as the model: the mean of the weights with `server.average`, else the "
          "weights.")
      .def_prop_ro(
          "moments",
          [](nb::pointer_and_handle<BoundRun> self) {
            nb::typed<nb::dict, nb::str, Out<const float>> all;
            for (const Moment& moment : self.p->run().moments())
              all[moment.name.c_str()] = view_of(moment.values, self.h);
            return all;
          },
          "What the server's optimizer keeps: read-only views, like the weights.");
  bind_training(run);
  bind_reprs(m, run);
}

}  // namespace subfleet::python
