#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/png.h"
#include "checks.h"
#include "codes/quality.h"
#include "commands.h"
#include "report/output_file.h"
#include "subfleet/codes.h"
#include "subfleet/error.h"

namespace subfleet::cli {
namespace {

struct CodesOptions {
  std::string family;
  BookRequest request;
  std::string out;
  std::string png;
  bool json = false;
  bool list = false;
};

void print_families() {
  for (const CodeFamily* family : code_families())
    fmt::print("{:<8} {}\n", family->name(), family->summary());
}

// NumPy's format 1.0: magic, version, the size of a header that ends on a multiple of 64, the header, the
// bytes.
void write_npy(const std::string& path, const CodeBook& book) {
  constexpr size_t kPreamble = 10;
  std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   book.rows(), book.length());
  header.append(63 - (kPreamble + header.size()) % 64, ' ');
  header += '\n';
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(header.size() & 0xff);
  content += static_cast<char>(header.size() >> 8);
  content += header;
  content.reserve(content.size() + book.rows() * book.length());
  for (size_t row = 0; row < book.rows(); ++row) {
    for (size_t column = 0; column < book.length(); ++column)
      content += static_cast<char>(book.bit(row, column));
  }
  write_file(path, content);
}

// One cell per bit, dark where the unit is kept, with a thin line between rows where there is room for it.
void draw_png(const std::string& path, const CodeBook& book) {
  constexpr size_t kMostPixels = size_t{1} << 26;
  constexpr uint8_t kKept = 0x26;
  constexpr uint8_t kDropped = 0xe6;
  constexpr uint8_t kLine = 0xff;
  const size_t width = std::clamp<size_t>(1600 / book.length(), 1, 16);
  const size_t height = std::clamp<size_t>(560 / book.rows(), 1, 16);
  if (book.rows() * height * book.length() * width > kMostPixels) {
    throw bad_request("--png",
                      fmt::format("{} rows of {} bits are too many to draw; at most 2^26 pixels are drawn",
                                  book.rows(), book.length()));
  }
  const size_t line = height >= 6 ? 1 : 0;
  GreyImage image(book.length() * width, book.rows() * height, kLine);
  for (size_t y = 0; y < image.height; ++y) {
    if (y % height >= height - line) continue;
    for (size_t x = 0; x < image.width; ++x)
      image.at(x, y) = book.bit(y / height, x / width) ? kKept : kDropped;
  }
  check_output("--png", path, OutputKind::kPicture);
  write_png(path, image);
}

nlohmann::ordered_json to_json(const CodesOptions& options, const BookQuality& quality) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  const auto normalised = [&](const std::optional<size_t>& value) {
    return value ? nlohmann::ordered_json(static_cast<double>(*value) / static_cast<double>(quality.length))
                 : nlohmann::ordered_json();
  };
  return {{"family", options.family},
          {"length", quality.length},
          {"rows", quality.rows},
          {"keep", options.request.keep},
          {"seed", options.request.seed},
          {"round", options.request.round},
          {"distinct_words", quality.distinct_words},
          {"weight_min", quality.least_weight},
          {"weight_max", quality.largest_weight},
          {"correlation", or_null(quality.correlation)},
          {"correlation_normalised", normalised(quality.correlation)},
          {"correlation_all_shifts", or_null(quality.shifted_correlation)},
          {"correlation_all_shifts_normalised", normalised(quality.shifted_correlation)},
          {"distance_min", or_null(quality.least_distance)},
          {"distance_bound", or_null(quality.distance_bound)},
          {"distance_mean", or_null(quality.mean_distance)},
          {"pair_rows", quality.pair_rows},
          {"shift_rows", quality.shift_rows},
          {"coverage_min", quality.least_coverage},
          {"coverage_max", quality.largest_coverage},
          {"coverage_mean", quality.mean_coverage},
          {"uncovered_units", quality.uncovered_units}};
}

void print_line(std::string_view what, std::string_view value, std::string_view note = "") {
  fmt::print("{}\n", note.empty() ? fmt::format("  {:<26} {:>10}", what, value)
                                  : fmt::format("  {:<26} {:>10}   {}", what, value, note));
}

std::string range(size_t least, size_t largest) {
  return least == largest ? fmt::format("{}", least) : fmt::format("{} - {}", least, largest);
}

void print_pairs(const BookQuality& quality) {
  const auto over = [&](size_t rows) {
    return rows < quality.rows ? fmt::format(", over the first {} rows", rows) : std::string();
  };
  const auto correlation = [&](std::string_view what, size_t value, size_t rows) {
    const double normalised = static_cast<double>(value) / static_cast<double>(quality.length);
    print_line(what, fmt::format("{}", value), fmt::format("{:.4f} of the length{}", normalised, over(rows)));
  };
  correlation("correlation, shift 0", *quality.correlation, quality.pair_rows);
  if (quality.shifted_correlation) {
    correlation("correlation, all shifts", *quality.shifted_correlation, quality.shift_rows);
  }
  const size_t least = *quality.least_distance;
  std::string note;
  if (quality.distance_bound && *quality.distance_bound > 0) {
    note = fmt::format("{:.1f} % of the bound, {}{}",
                       100.0 * static_cast<double>(least) / static_cast<double>(*quality.distance_bound),
                       *quality.distance_bound, over(quality.pair_rows));
  }
  print_line("distance, least", fmt::format("{}", least), note);
  print_line("distance, mean", fmt::format("{:.2f}", *quality.mean_distance));
}

void print_quality(const CodesOptions& options, const BookQuality& quality) {
  fmt::print("{}: {} {} of {} bits, seed {}, round {}\n\n", options.family, quality.rows,
             quality.rows == 1 ? "row" : "rows", quality.length, options.request.seed, options.request.round);
  const double kept = static_cast<double>(quality.largest_weight) / static_cast<double>(quality.length);
  print_line("weight", range(quality.least_weight, quality.largest_weight),
             fmt::format("{:.4f} of the length", kept));
  print_line("different words", fmt::format("{}", quality.distinct_words));
  if (quality.correlation) print_pairs(quality);
  print_line("rows that keep a unit", range(quality.least_coverage, quality.largest_coverage),
             fmt::format("mean {:.2f}", quality.mean_coverage));
  print_line("units that no row keeps", fmt::format("{}", quality.uncovered_units));
}

void run(const CodesOptions& options) {
  if (options.list) {
    print_families();
    return;
  }
  if (options.family.empty())
    throw bad_request("codes", "a family is missing; 'subfleet codes --list' lists them");
  const CodeFamily& family = code_family(options.family);
  if (options.request.length == 0 || options.request.rows == 0) {
    throw bad_request(
        "codes",
        "--length and --rows, 1 or more, are needed: the units of the layer and the clients of the round");
  }
  const CodeBook book = family.draw(options.request);
  const BookQuality quality = measure(book);
  if (!options.png.empty()) draw_png(options.png, book);
  if (!options.out.empty()) write_npy(options.out, book);
  if (options.json) {
    fmt::print("{}\n", to_json(options, quality).dump(2));
    return;
  }
  print_quality(options, quality);
  if (!options.out.empty())
    fmt::print("\nwrote {} (uint8, {} x {})\n", options.out, book.rows(), book.length());
  if (!options.png.empty()) fmt::print("{}wrote {}\n", options.out.empty() ? "\n" : "", options.png);
}

}  // namespace

void add_codes_command(CLI::App& program) {
  auto options = std::make_shared<CodesOptions>();
  BookRequest& request = options->request;
  const CLI::Validator count = whole_number(1, uint64_t{1} << 32);
  CLI::App* command = program.add_subcommand("codes", "Makes a code book and prints its quality");
  command->add_option("family", options->family, "The code family; --list lists them")->type_name("FAMILY");
  command->add_option("--length", request.length, "Units of the layer")->check(count)->type_name("N");
  command->add_option("--rows", request.rows, "Clients of the round")->check(count)->type_name("M");
  command->add_option("--keep", request.keep, "Kept fraction of the units")
      ->capture_default_str()
      ->type_name("F");
  command->add_option("--seed", request.seed, "Names the book, with the round")
      ->check(whole_number(0, std::numeric_limits<uint64_t>::max()))
      ->capture_default_str()
      ->type_name("S");
  command->add_option("--round", request.round, "The round it is for")
      ->check(whole_number(0, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str()
      ->type_name("R");
  command->add_option("--out", options->out, "Writes the book as a NumPy array, uint8 [rows, length]")
      ->check(not_empty())
      ->type_name("F.npy");
  command->add_option("--png", options->png, "Draws the book: one row per client, kept units dark")
      ->check(not_empty())
      ->type_name("F.png");
  command->add_flag("--json", options->json, "Prints the quality as one JSON object");
  command->add_flag("--list", options->list, "Lists the families");
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
