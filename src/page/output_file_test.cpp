#include "subfleet/page/output_file.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/page/page.h"
#include "subfleet/report/curves.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

bool allowed(const std::filesystem::path& path, OutputKind kind) {
  try {
    check_output("--out", path, kind);
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--out"), std::string::npos);
    return false;
  }
}

TEST(OutputFile, OnlyWhatIsOursIsReplaced) {
  const TemporaryFolder folder;
  EXPECT_TRUE(allowed(folder / "new", OutputKind::kPage));
  const std::array<ReportedRun, 1> runs;
  write_file(folder / "page", report_page(runs));
  write_file(folder / "chart", svg_file(accuracy_over_bytes(runs)));
  write_file(folder / "first version", "<head>\n<title>gold - Subfleet</title>");
  write_file(folder / "other", "<!doctype html>\n<title>My notes on subfleet</title>");
  write_file(folder / "empty", "");
  EXPECT_TRUE(allowed(folder / "page", OutputKind::kPage));
  EXPECT_TRUE(allowed(folder / "first version", OutputKind::kPage));
  EXPECT_TRUE(allowed(folder / "chart", OutputKind::kChart));
  EXPECT_FALSE(allowed(folder / "chart", OutputKind::kPage));
  EXPECT_FALSE(allowed(folder / "page", OutputKind::kChart));
  for (const auto kind : {OutputKind::kPage, OutputKind::kChart}) {
    EXPECT_FALSE(allowed(folder / "other", kind));
    EXPECT_FALSE(allowed(folder / "empty", kind));
  }
  std::filesystem::create_symlink("other", folder / "link");
  EXPECT_FALSE(allowed(folder / "link", OutputKind::kPage));
}

TEST(OutputFile, NoNameThatARunFolderNeedsIsTaken) {
  for (const char* has : {"config.toml", "rounds.jsonl", "tune.toml"}) {
    const TemporaryFolder folder;
    write_file(folder / has, "");
    for (const char* name : {"config.toml", "rounds.jsonl", "tune.toml", "tune.json", "model.safetensors"})
      EXPECT_FALSE(allowed(folder / name, OutputKind::kPage)) << name;
    EXPECT_TRUE(allowed(folder / "report.html", OutputKind::kPage));
    EXPECT_TRUE(allowed(folder / "chart.svg", OutputKind::kChart));
    EXPECT_FALSE(allowed(folder / "chart.svg", OutputKind::kPage));
  }
}

}  // namespace
}  // namespace subfleet
