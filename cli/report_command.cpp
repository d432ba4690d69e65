#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "commands.h"
#include "help.h"
#include "interrupt.h"
#include "run_folders.h"
#include "subfleet/base/file.h"
#include "subfleet/base/path_name.h"
#include "subfleet/charts/text_chart.h"
#include "subfleet/error.h"
#include "subfleet/page/output_file.h"
#include "subfleet/page/page.h"
#include "subfleet/report/csv.h"
#include "subfleet/report/curves.h"
#include "subfleet/report/differences.h"
#include "subfleet/report/reported_run.h"
#include "subfleet/report/run_groups.h"
#include "subfleet/report/terminal.h"
#include "subfleet/results/run_measures.h"

namespace subfleet::cli {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> folders;
  std::optional<std::filesystem::path> out, svg, csv;
  std::optional<double> accuracy;
  bool json = false, watch = false;
};

// A run's own page stands in its folder; one of several runs, where the command is run.
std::optional<std::filesystem::path> page_path(const ReportRequest& request) {
  if (request.out || request.json) return request.out;
  return request.folders.size() == 1 ? request.folders[0] / "report.html" : "report.html";
}

void check_outputs(const ReportRequest& request, const std::optional<std::filesystem::path>& page) {
  if (page) check_output("--out", *page, OutputKind::kPage);
  if (request.svg) check_output("--svg", *request.svg, OutputKind::kChart);
  if (request.csv) check_output("--csv", *request.csv, OutputKind::kCsv);
  std::set<std::filesystem::path> names;
  for (const auto& [option, path] :
       {std::pair("--out", page), std::pair("--svg", request.svg), std::pair("--csv", request.csv)}) {
    if (path && !names.insert(weakly_canonical(*path)).second) {
      throw bad_request(option,
                        "names a file that another part of the report is written to; give it another name");
    }
  }
}

void check_request(const ReportRequest& request) {
  if (request.accuracy && !(*request.accuracy > 0 && *request.accuracy <= 1)) {
    throw bad_request("--accuracy", fmt::format("{:g} is not between 0 and 1", *request.accuracy));
  }
  if (request.watch && request.json)
    throw bad_request("--watch", "keeps a page up to date; leave out --json");
}

void print_report(std::span<const ReportedRun> runs, const Comparison& comparison) {
  const auto terminal = look_at_terminal(stdout);
  constexpr size_t kDifferencesWidth = 120;
  const std::string differences =
      differences_table(representatives(runs, group_by_seed(runs)), kDifferencesWidth);
  fmt::print("{}\n{}{}", in_locale(report_table(runs, comparison)),
             differences.empty() ? "" : differences + "\n",
             text_chart(accuracy_over_bytes(runs), {.unicode = terminal.unicode,
                                                    .colour = terminal.colour,
                                                    .width = std::clamp<size_t>(terminal.width, 40, 70)}));
  for (const auto& run : runs) {
    if (run.rounds.empty()) fmt::print("\n{} has no rounds yet\n", run.name);
  }
}

// Writes the files that the options name and says where they are.
void write_files(const ReportRequest& request, std::span<const ReportedRun> runs,
                 const Comparison& comparison) {
  std::FILE* notes = request.json ? stderr : stdout;
  const auto write = [&](std::string_view what, const std::filesystem::path& path, const std::string& text) {
    write_file(path, text);
    fmt::print(notes, "{:<6} {}\n", what, path_name(path));
  };
  fmt::print(notes, "\n");
  if (const auto page = page_path(request)) write("page", *page, report_page(runs, comparison));
  if (request.svg) write("chart", *request.svg, svg_file(accuracy_over_bytes(runs)));
  if (request.csv) write("csv", *request.csv, report_csv(runs));
}

void report(const ReportRequest& request) {
  const auto runs = reported_runs(request.folders);
  check_outputs(request, page_path(request));
  const auto comparison = compare_runs(runs, request.accuracy);
  if (request.json) {
    fmt::print("{}", report_json(runs, comparison));
  } else {
    print_report(runs, comparison);
  }
  write_files(request, runs, comparison);
}

// Rewrites the page, which reloads itself, as the logs grow, until all runs have ended or Ctrl-C comes.
void watch(const ReportRequest& request) {
  constexpr auto kPause = std::chrono::seconds(1);
  const std::filesystem::path page = *page_path(request);
  check_outputs(request, page);
  const InterruptWatch interrupt("writing the report a last time");
  std::optional<std::vector<uint32_t>> written;  // the rounds of each run that the page knows
  while (true) {
    const auto runs = reported_runs(request.folders);
    if (interrupt.interrupted() || std::ranges::all_of(runs, is_over)) break;
    std::vector<uint32_t> rounds;
    for (const ReportedRun& run : runs) rounds.push_back(run.rounds.empty() ? 0 : run.rounds.back().round);
    if (rounds != written) {
      write_file(page, report_page(runs, compare_runs(runs, request.accuracy), Reload::kYes));
      if (!written) fmt::print("watching; open {}\n", path_name(page));
      std::fflush(stdout);
      written = std::move(rounds);
    }
    std::this_thread::sleep_for(kPause);
  }
  report(request);
  if (interrupt.interrupted()) throw Stopped{interrupt.signal()};
}

}  // namespace

void add_report_command(CLI::App& program) {
  auto request = std::make_shared<ReportRequest>();
  CLI::App* command = program.add_subcommand(
      "report", "Compare runs: a table and a curve here, and one HTML page that needs nothing else");
  command->add_option("FOLDER", request->folders, "run folders, the one to compare with first")->required();
  command
      ->add_option("--out", request->out,
                   "where the page goes (DIR/report.html; of several runs: report.html)")
      ->type_name("FILE");
  command->add_option("--svg", request->svg, "also write the curve of test accuracy over bytes exchanged")
      ->type_name("FILE");
  command
      ->add_option(
          "--accuracy", request->accuracy,
          "compare the bytes needed to reach this test accuracy, 0 to 1 (the highest that all runs reach)")
      ->type_name("A");
  command->add_flag("--json", request->json, "print the table as JSON; write a page only where --out says");
  command
      ->add_option("--csv", request->csv,
                   "also write every test of every run: round, bytes, accuracies, losses")
      ->type_name("FILE");
  command->add_flag("--watch", request->watch,
                    "keep the page up to date while runs are trained, until they end or Ctrl-C");
  command->footer(
      footer("Runs that differ only in their seed are one row and one line: the mean over the\n"
             "seeds, with its 95 % interval. 'subfleet report SWEEP/*' compares the runs of a\n"
             "sweep; plain files are left out.",
             {"subfleet report runs/first", "subfleet report runs/bytes/* --out bytes.html --csv bytes.csv",
              "subfleet report runs/first --watch"}));
  command->callback([request] {
    check_request(*request);
    request->folders = without_files(std::move(request->folders));
    if (request->watch) return watch(*request);
    report(*request);
  });
}

}  // namespace subfleet::cli
