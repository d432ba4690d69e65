#pragma once

#include <filesystem>
#include <string_view>

namespace subfleet {

// What every page of ours says near its beginning.
inline constexpr std::string_view kPageMarker = R"(<meta name="generator" content="subfleet">)";

enum class OutputKind { kPage, kChart, kPicture, kCsv };

// Throws Error, naming the option that asks for it, unless the file may be written: there is none yet, or it
// is a page, a chart or a CSV of ours, or any PNG. A new file in the folder of a run or a search must be
// called .html, .svg, .csv or .png, so that it never takes the name of one that these folders need.
void check_output(std::string_view option, const std::filesystem::path& path, OutputKind kind);

}  // namespace subfleet
