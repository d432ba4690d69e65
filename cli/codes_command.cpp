#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks.h"
#include "commands.h"
#include "help.h"
#include "subfleet/base/file.h"
#include "subfleet/base/png.h"
#include "subfleet/charts/book_picture.h"
#include "subfleet/codes.h"
#include "subfleet/codes/quality.h"
#include "subfleet/error.h"
#include "subfleet/page/output_file.h"
#include "wait_line.h"

namespace subfleet::cli {
namespace {

constexpr uint64_t kMostLength = uint64_t{1} << 24;  // half a minute for some families
constexpr uint64_t kMostRows = uint64_t{1} << 32;
constexpr size_t kManyBits = size_t{1} << 24;  // of a book: about a second

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

// `random`'s book for the same request, to compare with.
struct RandomBook {
  CodeBook book;
  BookQuality quality;
};

// Empty for `random` itself, and if its words have another weight.
std::optional<RandomBook> random_beside(const CodesOptions& options, const BookQuality& quality) {
  if (options.family == "random") return std::nullopt;
  const CodeFamily& random = code_family("random");
  if (quality.least_weight != random.weight(options.request.length, options.request.keep))
    return std::nullopt;
  CodeBook book = random.draw(options.request);
  const BookQuality measured = measure(book, Shifts::kNone);
  return RandomBook{std::move(book), measured};
}

nlohmann::ordered_json to_json(const CodesOptions& options, const BookQuality& quality,
                               const BookQuality* random) {
  using Value = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Value(*value) : Value(); };
  const auto normalised = [&](const std::optional<size_t>& value) {
    return value ? Value(static_cast<double>(*value) / static_cast<double>(quality.length)) : Value();
  };
  Value json{{"family", options.family},
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
             {"overlap_max", or_null(quality.largest_overlap)},
             {"overlap_mean", or_null(quality.mean_overlap)},
             {"distance_min", or_null(quality.least_distance)},
             {"distance_bound", or_null(quality.distance_bound)},
             {"distance_mean", or_null(quality.mean_distance)},
             {"pair_rows", quality.pair_rows},
             {"shift_rows", quality.shift_rows},
             {"coverage_min", quality.least_coverage},
             {"coverage_max", quality.largest_coverage},
             {"coverage_mean", quality.mean_coverage},
             {"uncovered_units", quality.uncovered_units},
             {"random", Value()}};
  if (random != nullptr) {
    json["random"] = {
        {"distinct_words", random->distinct_words},        {"correlation", or_null(random->correlation)},
        {"overlap_max", or_null(random->largest_overlap)}, {"overlap_mean", or_null(random->mean_overlap)},
        {"distance_min", or_null(random->least_distance)}, {"distance_mean", or_null(random->mean_distance)},
        {"coverage_min", random->least_coverage},          {"coverage_max", random->largest_coverage},
        {"uncovered_units", random->uncovered_units}};
  }
  return json;
}

std::string range(size_t least, size_t largest) {
  return least == largest ? fmt::format("{}", least) : fmt::format("{} - {}", least, largest);
}

// Each line has a name, a figure, `random`'s figure if there is one to compare with, and a note.
class QualityTable {
 public:
  QualityTable(const BookQuality& quality, const BookQuality* random) : quality_(quality), random_(random) {}

  template <typename Figure>  // BookQuality -> text
  void line(std::string_view what, const Figure& figure, std::string_view note = "") const {
    std::string text = fmt::format("  {:<26} {:>11}", what, figure(quality_));
    if (random_ != nullptr) text += fmt::format(" {:>11}", figure(*random_));
    if (!note.empty()) text += fmt::format("   {}", note);
    fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  }

 private:
  const BookQuality& quality_;
  const BookQuality* random_;
};

void print_pairs(const BookQuality& quality, const QualityTable& table) {
  const auto over = [&](size_t rows) {
    return rows < quality.rows ? fmt::format(", over the first {} rows", rows) : std::string();
  };
  const auto of_length = [&](size_t value, size_t rows) {
    const double normalised = static_cast<double>(value) / static_cast<double>(quality.length);
    return fmt::format("{:.4f} of the length{}", normalised, over(rows));
  };
  const auto whole = [](const std::optional<size_t>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  table.line(
      "overlap, largest", [&](const BookQuality& of) { return whole(of.largest_overlap); },
      "units that two rows share");
  table.line("overlap, mean", [](const BookQuality& of) { return fmt::format("{:.2f}", *of.mean_overlap); });
  table.line(
      "correlation, shift 0", [&](const BookQuality& of) { return whole(of.correlation); },
      of_length(*quality.correlation, quality.pair_rows));
  if (quality.shifted_correlation) {
    table.line(
        "correlation, all shifts", [&](const BookQuality& of) { return whole(of.shifted_correlation); },
        of_length(*quality.shifted_correlation, quality.shift_rows));
  }
  std::string note;
  if (quality.distance_bound && *quality.distance_bound > 0) {
    const size_t least = *quality.least_distance;
    note = fmt::format("{:.1f} % of the bound, {}{}",
                       100.0 * static_cast<double>(least) / static_cast<double>(*quality.distance_bound),
                       *quality.distance_bound, over(quality.pair_rows));
  }
  table.line(
      "distance, least", [&](const BookQuality& of) { return whole(of.least_distance); }, note);
  table.line("distance, mean",
             [](const BookQuality& of) { return fmt::format("{:.2f}", *of.mean_distance); });
}

std::string book_name(const CodesOptions& options, const BookQuality& quality) {
  return fmt::format("{}: {} {} of {} bits, seed {}, round {}", options.family, quality.rows,
                     quality.rows == 1 ? "row" : "rows", quality.length, options.request.seed,
                     options.request.round);
}

void print_quality(const CodesOptions& options, const BookQuality& quality, const BookQuality* random) {
  fmt::print("{}\n\n", book_name(options, quality));
  if (random != nullptr) fmt::print("  {:<26} {:>11} {:>11}\n", "", options.family, "random");
  const QualityTable table(quality, random);
  const double kept = static_cast<double>(quality.largest_weight) / static_cast<double>(quality.length);
  table.line(
      "weight", [](const BookQuality& of) { return range(of.least_weight, of.largest_weight); },
      fmt::format("{:.4f} of the length", kept));
  table.line("different words", [](const BookQuality& of) { return fmt::format("{}", of.distinct_words); });
  table.line(
      "rows that keep a unit",
      [](const BookQuality& of) { return range(of.least_coverage, of.largest_coverage); },
      fmt::format("mean {:.2f}", quality.mean_coverage));
  table.line("units that no row keeps",
             [](const BookQuality& of) { return fmt::format("{}", of.uncovered_units); });
  if (quality.correlation) print_pairs(quality, table);
}

void draw_png(const CodesOptions& options, const DrawnBook& drawn, const std::optional<RandomBook>& random) {
  check_output("--png", options.png, OutputKind::kPicture);
  const std::string title =
      fmt::format("{}: {} {} x {} units, keep {}, seed {}, round {}", options.family, drawn.book.rows(),
                  drawn.book.rows() == 1 ? "client" : "clients", drawn.book.length(), options.request.keep,
                  options.request.seed, options.request.round);
  if (!random) {
    write_png(options.png, book_picture(title, drawn, nullptr));
    return;
  }
  const DrawnBook beside{.name = "random", .book = random->book, .quality = random->quality};
  write_png(options.png, book_picture(title, drawn, &beside));
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
  WaitLine wait(
      fmt::format("drawing and measuring {} words of {} units", options.request.rows, options.request.length),
      options.request.rows > kManyBits / options.request.length);
  const CodeBook book = family.draw(options.request);
  const BookQuality quality = measure(book);
  const std::optional<RandomBook> random = random_beside(options, quality);
  wait.finish();
  const BookQuality* beside = random ? &random->quality : nullptr;
  if (!options.png.empty())
    draw_png(options, {.name = options.family, .book = book, .quality = quality}, random);
  if (!options.out.empty()) write_npy(options.out, book);
  if (options.json) {
    fmt::print("{}\n", to_json(options, quality, beside).dump(2));
    return;
  }
  print_quality(options, quality, beside);
  if (!options.out.empty())
    fmt::print("\nwrote {} (uint8, {} x {})\n", options.out, book.rows(), book.length());
  if (!options.png.empty()) fmt::print("{}wrote {}\n", options.out.empty() ? "\n" : "", options.png);
}

}  // namespace

void add_codes_command(CLI::App& program) {
  auto options = std::make_shared<CodesOptions>();
  BookRequest& request = options->request;
  CLI::App* command = program.add_subcommand("codes", "Make a code book and print its quality");
  command->add_option("FAMILY", options->family, "the code family; --list lists them");
  command->add_option("--length", request.length, "units of the layer")
      ->check(whole_number(1, kMostLength))
      ->type_name("N");
  command->add_option("--rows", request.rows, "clients of the round")
      ->check(whole_number(1, kMostRows))
      ->type_name("M");
  command->add_option("--keep", request.keep, "kept fraction of the units")
      ->capture_default_str()
      ->type_name("F");
  command->add_option("--seed", request.seed, "names the book, with the round")
      ->check(whole_number(0, std::numeric_limits<uint64_t>::max()))
      ->capture_default_str()
      ->type_name("S");
  command->add_option("--round", request.round, "the round it is for")
      ->check(whole_number(0, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str()
      ->type_name("R");
  command->add_option("--out", options->out, "write the book as a NumPy array, uint8 [rows, length]")
      ->check(not_empty())
      ->type_name("F.npy");
  command->add_option("--png", options->png, "draw the words, their coverage and their overlaps")
      ->check(not_empty())
      ->type_name("F.png");
  command->add_flag("--json", options->json, "print the quality as one JSON object");
  command->add_flag("--list", options->list, "list the families");
  command->footer(
      footer("", {"subfleet codes --list", "subfleet codes gold --length 128 --rows 10 --png gold.png"}));
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
