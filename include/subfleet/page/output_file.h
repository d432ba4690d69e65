#pragma once

#include <filesystem>
#include <string_view>

namespace subfleet {

// What every page of ours says near its beginning.
inline constexpr std::string_view kPageMarker = R"(<meta name="generator" content="subfleet">)";

enum class OutputKind { kPage, kChart, kPicture, kCsv };

// Throws Error, naming the option, unless the file may be written: it does not exist, or it is a page, chart
// or CSV of ours, or any PNG. In the folder of a run or a search, a new file must end in .html, .svg, .csv or
// .png, so that it never takes the name of a file that the folder needs.
void check_output(std::string_view option, const std::filesystem::path& path, OutputKind kind);

}  // namespace subfleet
