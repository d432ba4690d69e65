#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "subfleet/codes.h"
#include "subfleet/error.h"
#include "subfleet/run.h"
#include "subfleet/schedule.h"
#include "subfleet/server_optimizer.h"
#include "threads.h"

// What is written in Python and named in settings. Called by threads without the GIL.
namespace subfleet::python {
namespace {

// A function that may outlive Python's end, and then stays where it is.
class Function {
 public:
  explicit Function(nb::object function) : function_(function.release()) {}
  template <typename... Arguments>
  nb::object operator()(Arguments&&... arguments) const {
    return nb::borrow(function_)(std::forward<Arguments>(arguments)...);
  }

 private:
  nb::handle function_;
};

class PythonFamily final : public CodeFamily {
 public:
  PythonFamily(std::string name, nb::object draw, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)), draw_(std::move(draw)) {}

  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }

  size_t weight(size_t length, double keep) const override {
    const auto ones = static_cast<size_t>(std::llround(keep * static_cast<double>(length)));
    return std::clamp<size_t>(ones, 1, length);
  }

  CodeBook draw(const BookRequest& request) const override {
    using namespace nb::literals;
    const WithGil acquire;
    const size_t ones = weight(request.length, request.keep);
    const nb::object made =
        draw_("rows"_a = request.rows, "length"_a = request.length, "ones"_a = ones, "seed"_a = request.seed,
              "round"_a = request.round, "layer"_a = request.layer);
    In<bool, 2> rows;
    if (!nb::try_cast(made, rows) || rows.shape(0) != request.rows || rows.shape(1) != request.length) {
      throw bad_request(fmt::format("code family '{}'", name_),
                        fmt::format("must draw a bool array of {} x {}", request.rows, request.length));
    }
    CodeBook book(request.rows, request.length);
    for (size_t row = 0; row < request.rows; ++row) {
      for (size_t column = 0; column < request.length; ++column)
        book.set_bit(row, column, rows.data()[row * request.length + column]);
      if (book.weight(row) == ones) continue;
      throw bad_request(fmt::format("code family '{}'", name_),
                        fmt::format("row {} keeps {} of {} units; every row keeps {}", row, book.weight(row),
                                    request.length, ones));
    }
    return book;
  }

 private:
  std::string name_, summary_;
  Function draw_;
};

class PythonOptimizer final : public OwnOptimizer {
 public:
  PythonOptimizer(std::string name, nb::object step, std::vector<std::string> moments, double default_lr)
      : name_(std::move(name)),
        moments_(std::move(moments)),
        default_lr_(default_lr),
        step_(std::move(step)) {}

  std::string name() const override { return name_; }
  double default_lr() const override { return default_lr_; }
  std::vector<std::string> moments() const override { return moments_; }

  void step(std::span<float> weights, std::span<const float> mean, std::span<const std::span<float>> moments,
            double lr) const override {
    const WithGil acquire;
    const nb::object none = nb::none();
    nb::dict named;
    for (size_t i = 0; i < moments.size(); ++i) named[moments_[i].c_str()] = view_of(moments[i], none);
    step_(view_of(weights, none), view_of(mean, none), named, lr);
  }

 private:
  std::string name_;
  std::vector<std::string> moments_;
  double default_lr_;
  Function step_;
};

double number_of(const std::string& whose, const nb::object& answer) {
  double number = 0;
  if (nb::try_cast(answer, number)) return number;
  if (nb::hasattr(answer, "item") && nb::try_cast(nb::object(answer.attr("item")()), number)) return number;
  throw bad_request(whose, "must return a number");
}

}  // namespace

void bind_plugins(nb::module_& m) {
  m.def(
      "register_code_family",
      [](const std::string& name, nb::object draw, const std::string& summary) {
        register_code_family(std::make_unique<PythonFamily>(name, std::move(draw), summary));
      },
      nb::arg("name"), nb::arg("draw"), nb::arg("summary") = "a program's own",
      "Adds a code family that code.family can name in this process: draw(rows, length, ones, seed, round, "
      "layer) returns a bool array of rows x length with `ones` ones in each row, the same for the same "
      "arguments. It stays until Python ends; a program that resumes the run has to register it too.");
  m.def(
      "register_server_optimizer",
      [](const std::string& name, nb::object step, const std::vector<std::string>& moments,
         double default_lr) {
        register_server_optimizer(
            std::make_shared<PythonOptimizer>(name, std::move(step), moments, default_lr));
      },
      nb::arg("name"), nb::arg("step"), nb::arg("moments") = std::vector<std::string>(),
      nb::arg("default_lr") = 1.0,
      "Adds an optimizer that server.optimizer can name in this process: step(weights, mean, moments, lr) "
      "changes the flat weights and the moments, arrays by their names, in place; `mean` is each weight's "
      "mean "
      "update over those who held it.");
  m.def(
      "register_schedule",
      [](const std::string& name, nb::object share) {
        register_schedule(
            name, [name, function = Function(std::move(share))](const SchedulePlace& at, double final) {
              const WithGil acquire;
              return number_of(fmt::format("schedule '{}'", name),
                               function(at.passed, at.of_rest, at.warmup, final));
            });
      },
      nb::arg("name"), nb::arg("share"),
      "Adds a schedule that server.schedule and round.schedule can name in this process: share(passed, "
      "of_rest, warmup, final) returns the share of the rate; `passed` are the rounds since the warm-up, and "
      "`of_rest` goes from 0 to 1 at the horizon.");
  m.def(
      "register_metric",
      [](const std::string& name, nb::object metric) {
        register_metric(name, [name, function = Function(std::move(metric))](Run& run) {
          const WithGil acquire;
          return number_of(fmt::format("metric '{}'", name),
                           function(view_of(run.tested_weights(), nb::none()), run.round()));
        });
      },
      nb::arg("name"), nb::arg("metric"),
      "Adds a figure that run.metrics can name in this process: metric(weights, round) returns a number, of "
      "the whole model's flat weights; it is measured with each test and logged.");
}

}  // namespace subfleet::python
