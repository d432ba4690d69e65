#include "subfleet/page/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "subfleet/charts/chart.h"
#include "subfleet/error.h"
#include "subfleet/report/csv.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

std::string beginning_of(const fs::path& path) {
  std::string text(1024, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool is_ours(const fs::path& path, OutputKind kind) {
  constexpr std::string_view kTitle = " - Subfleet</title>";  // all that the pages of version 0.1.0 say
  const std::string text = beginning_of(path);
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  switch (kind) {
    case OutputKind::kPage:
      return says(kPageMarker) || says(kTitle);
    case OutputKind::kChart:
      return says(kChartMarker);
    case OutputKind::kCsv:
      return text.starts_with(kCsvHead);
    case OutputKind::kPicture:
      break;
  }
  return text.empty() || text.starts_with("\x89PNG");
}

// What it is called and how its name ends.
std::pair<std::string_view, std::string_view> words_for(OutputKind kind) {
  switch (kind) {
    case OutputKind::kPage:
      return {"a page that subfleet made", ".html"};
    case OutputKind::kChart:
      return {"a chart that subfleet made", ".svg"};
    case OutputKind::kCsv:
      return {"a CSV that subfleet made", ".csv"};
    case OutputKind::kPicture:
      break;
  }
  return {"a PNG picture", ".png"};
}

bool holds_a_run(const fs::path& folder) {
  constexpr std::array kFiles{"config.toml", "rounds.jsonl", "tune.toml"};
  return std::ranges::any_of(kFiles, [&](const char* name) {
    std::error_code code;
    return fs::exists(folder / name, code);
  });
}

}  // namespace

void check_output(std::string_view option, const fs::path& path, OutputKind kind) {
  const auto [what, extension] = words_for(kind);
  std::error_code code;
  const fs::path target = fs::weakly_canonical(path, code);  // a link is written through
  if (code) throw bad_request(option, fmt::format("{}: {}", path.string(), code.message()));
  if (fs::exists(target, code)) {
    // The writer itself refuses what is not a plain file.
    if (!fs::is_regular_file(target, code) || is_ours(target, kind)) return;
    throw bad_request(option, fmt::format("{} exists and is not {}; name another file", path.string(), what));
  }
  if (target.extension() != extension && holds_a_run(target.parent_path())) {
    throw bad_request(
        option, fmt::format("{} is in a run's folder, where it must end in {}", path.string(), extension));
  }
}

}  // namespace subfleet
