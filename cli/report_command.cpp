#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "commands.h"
#include "report/differences.h"
#include "report/output_file.h"
#include "report/page.h"
#include "report/terminal.h"
#include "report/text_chart.h"
#include "subfleet/error.h"

namespace subfleet::cli {
namespace {

struct ReportRequest {
  std::vector<std::filesystem::path> folders;
  std::optional<std::filesystem::path> out, svg;
  std::optional<double> accuracy;
  bool json = false;
};

// A run's own page stands in its folder; one of several runs, where the command is run.
std::optional<std::filesystem::path> page_path(const ReportRequest& request) {
  if (request.out || request.json) return request.out;
  return request.folders.size() == 1 ? request.folders[0] / "report.html" : "report.html";
}

void check_outputs(const ReportRequest& request, const std::optional<std::filesystem::path>& page) {
  if (page) check_output("--out", *page, OutputKind::kPage);
  if (request.svg) check_output("--svg", *request.svg, OutputKind::kChart);
  if (page && request.svg && weakly_canonical(*page) == weakly_canonical(*request.svg))
    throw bad_request("--svg", "names the file that the page goes to; give the chart another name");
}

void report(const ReportRequest& request) {
  if (request.accuracy && !(*request.accuracy > 0 && *request.accuracy <= 1)) {
    throw bad_request("--accuracy", fmt::format("{:g} is not between 0 and 1", *request.accuracy));
  }
  const auto runs = load_runs(request.folders);
  const auto page = page_path(request);
  check_outputs(request, page);
  const auto comparison = compare_runs(runs, request.accuracy);
  const auto curve = accuracy_over_bytes(runs);

  if (request.json) {
    fmt::print("{}", report_json(runs, comparison));
  } else {
    const auto terminal = look_at_terminal(stdout);
    constexpr size_t kDifferencesWidth = 120;
    const std::string differences = differences_table(runs, kDifferencesWidth);
    fmt::print("{}\n{}{}", report_table(runs, comparison), differences.empty() ? "" : differences + "\n",
               text_chart(curve, {.unicode = terminal.unicode,
                                  .colour = terminal.colour,
                                  .width = std::clamp<size_t>(terminal.width, 40, 70)}));
    for (const auto& run : runs) {
      if (run.rounds.empty()) fmt::print("\n{} has no rounds yet\n", run.name);
    }
  }
  std::FILE* notes = request.json ? stderr : stdout;
  if (page) {
    write_file(*page, report_page(runs, comparison));
    fmt::print(notes, "\npage   {}\n", one_line(page->string()));
  }
  if (request.svg) {
    write_file(*request.svg, svg_file(curve));
    fmt::print(notes, "chart  {}\n", one_line(request.svg->string()));
  }
}

}  // namespace

void add_report_command(CLI::App& program) {
  auto request = std::make_shared<ReportRequest>();
  CLI::App* command = program.add_subcommand(
      "report", "Compare runs: a table and a curve here, and one HTML page that needs nothing else");
  command->add_option("folders", request->folders, "run folders, the one to compare with first")
      ->type_name("DIR")
      ->required();
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
  command->callback([request] { report(*request); });
}

}  // namespace subfleet::cli
