// The commands that look rather than train, as a user meets them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "markup_check.h"
#include "program.h"
#include "python_data.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

Json json_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return Json::parse(outcome.out);
}

TEST(Commands, APictureReplacesPicturesOnly) {
  const TemporaryFolder folder;
  write_file(folder / "config.toml", "precious");
  const std::string file = (folder / "config.toml").string(), png = (folder / "book.png").string();
  const std::vector<std::string> codes{"codes", "random", "--length", "8", "--rows", "3", "--png"};
  expect_one_line_error(run_program(with(codes, {file})), 2, "is not a PNG picture");
  expect_one_line_error(run_program({"data", "show", "--rows", "1", "--out", file}), 2,
                        "is not a PNG picture");
  EXPECT_EQ(read_file(file), "precious");
  EXPECT_EQ(run_program(with(codes, {png})).status, 0);
  EXPECT_EQ(run_program(with(codes, {png})).status, 0) << "again";
}

TEST(Commands, SettingsAreShownAsTheyAreHere) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "[round]\nclients = 17\n");
  const Outcome outcome = run_program({"train", (folder / "c.toml").string(), "--settings", "--set",
                                       "run.seed=18446744073709551615", "--set",
                                       "code.layers.conv2.keep=0.75", "--set", "code.family=random"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string line : {"round.clients", "code.layers.conv2.keep", "code.layers.LAYER.family"})
    EXPECT_NE(outcome.out.find("\n" + line + " "), std::string::npos) << line << "\n" << outcome.out;
  EXPECT_NE(outcome.out.find(" 17 "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("18446744073709551615"), std::string::npos) << outcome.out;
}

TEST(Commands, ASettingTakenForAnOptionIsNamed) {
  expect_one_line_error(run_program({"train", "--rounds", "5"}), 2, "it is a setting: --set run.rounds=5");
  expect_one_line_error(run_program({"train", "--client-lr=0.1"}), 2, "--set round.client_lr=0.1");
  expect_one_line_error(run_program({"train", "--seed", "7"}), 2, "--set run.seed=7 or --set data.seed=7");
  expect_one_line_error(run_program({"data", "stats", "--writers", "9"}), 2, "--set data.writers=9");
  const Outcome unknown = run_program({"train", "--set", "run.round=5"});
  expect_one_line_error(unknown, 2, "nearest: run.rounds, ");
  EXPECT_EQ(unknown.err.find("data.source"), std::string::npos) << "the nearest few, not all";
  expect_one_line_error(run_program({"train", "--set", "round.client_lr=0"}), 2, "round.client_lr");
}

TEST(Codes, PrintsQualityAndWritesTheBookAndItsPicture) {
  const TemporaryFolder folder;
  const std::string npy = (folder / "b.npy").string(), png = (folder / "b.png").string();
  const Outcome outcome =
      run_program({"codes", "gold", "--length", "64", "--rows", "35", "--out", npy, "--png", png});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* word :
       {"weight", "correlation, shift 0", "correlation, all shifts", "distance, least", "bound",
        "distance, mean", "rows that keep a unit", "overlap, largest", "overlap, mean", "random"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(read_file(png).substr(1, 3), "PNG");
  const std::string array = read_file(npy);
  EXPECT_EQ(array.substr(1, 5), "NUMPY");
  EXPECT_EQ(array.size() % 64, (35u * 64u) % 64);
  size_t ones = 0;
  for (size_t i = array.size() - size_t{35} * 64; i < array.size(); ++i)
    ones += static_cast<size_t>(array[i]);
  EXPECT_EQ(ones, 35u * 32u);
}

TEST(Codes, JsonIsOneObjectWithRandomsFiguresBesideIt) {
  const std::vector<std::string> request{"--length", "100", "--keep", "0.25", "--rows", "10", "--json"};
  const Json balanced = json_of(run_program(with({"codes", "balanced"}, request)));
  const Json random = json_of(run_program(with({"codes", "random"}, request)));
  EXPECT_EQ(balanced["coverage_min"], 2);
  EXPECT_EQ(balanced["coverage_max"], 3);
  EXPECT_LT(balanced["overlap_max"], random["overlap_max"]);
  for (const auto& [key, value] : balanced["random"].items()) EXPECT_EQ(value, random[key]) << key;
  EXPECT_TRUE(balanced["random"].contains("overlap_mean"));
  EXPECT_TRUE(random["random"].is_null()) << "nothing to compare with";
  EXPECT_TRUE(json_of(run_program(with({"codes", "none"}, request)))["random"].is_null()) << "another weight";
}

TEST(Codes, WhatCannotBeMetNamesWhatCan) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"codes", "gold", "--length", "100", "--rows", "5"},
        {"codes", "gold", "--length", "64", "--rows", "5", "--keep", "0.3"}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("cwc and random take any"), std::string::npos) << outcome.err;
  }
  EXPECT_NE(run_program({"codes", "glod", "--length", "64", "--rows", "5"}).err.find("nearest: gold"),
            std::string::npos);
}

TEST(Data, ShowDrawsAContactSheetAndStatsCounts) {
  const TemporaryFolder folder;
  const std::string png = (folder / "sheet.png").string();
  ASSERT_EQ(run_program({"data", "show", "--rows", "3", "--out", png}).status, 0);
  EXPECT_EQ(read_file(png).substr(1, 3), "PNG");
  const Outcome stats = run_program({"data", "stats", "--set", "data.writers=50"});
  EXPECT_EQ(stats.status, 0);
  EXPECT_NE(stats.out.find("clients             50"), std::string::npos) << stats.out;
  EXPECT_EQ(run_program({"data", "stats", "--set", "data.source=idx", "--set",
                         "data.path=" + (folder / "none").string()})
                .status,
            2);
}

TEST(Data, InfoSaysWhatIsThereAndItsSettingsReadIt) {
  const TemporaryFolder folder;
  expect_one_line_error(run_program({"data", "info", folder.path().string()}), 2,
                        "holds nothing that a source reads");
  if (!write_python_data("leaf-femnist", folder.path())) GTEST_SKIP() << "python3 is absent";
  const Outcome info = run_program({"data", "info", folder.path().string()});
  ASSERT_EQ(info.status, 0) << info.err;
  for (const char* line :
       {"source              leaf\n", "clients             3\n", "examples            16 of 1 x 28 x 28\n",
        "split               its own: 12 for training, 4 for testing\n", "polarity "}) {
    EXPECT_NE(info.out.find(line), std::string::npos) << line << info.out;
  }
  const std::string settings = (folder / "settings.toml").string();
  write_file(settings, info.out.substr(info.out.find("[data]")));
  const Outcome stats = run_program({"data", "stats", settings});
  EXPECT_EQ(stats.status, 0) << stats.err;
  EXPECT_NE(stats.out.find("clients             3\n"), std::string::npos) << stats.out;
}

// Six images of a pixel, without writers.
void write_few_images(const std::filesystem::path& folder) {
  using namespace std::string_literals;
  make_folder(folder);
  write_file(folder / "x-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\x06\0\0\0\x01\0\0\0\x02"s + "abcdefabcdef");
  write_file(folder / "x-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x06\0\x01\0\x01\0\x01"s);
}

TEST(Data, InfoTakesSettingsOfTheDataAlone) {
  const TemporaryFolder folder;
  const std::string path = (folder / "few").string();
  write_few_images(path);
  const std::vector<std::string> info{"data", "info", path};
  expect_one_line_error(run_program(info), 2, "500 clients cannot share 6 images");
  const Outcome outcome = run_program(with(
      info, {"--set", "data.clients=2", "--set", "data.partition=iid", "--set", "data.raw_polarity=false"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("clients             2\n"), std::string::npos) << outcome.out;
  const std::string settings = (folder / "settings.toml").string();
  write_file(settings, outcome.out.substr(outcome.out.find("[data]")));
  const Outcome stats = run_program({"data", "stats", settings});
  EXPECT_NE(stats.out.find("clients             2\n"), std::string::npos) << stats.out << stats.err;
  EXPECT_EQ(outcome.out.find("raw_polarity"), std::string::npos) << "as it was set";
  expect_one_line_error(run_program(with(info, {"--set", "round.clients=2"})), 2, "is not about the data");
  expect_one_line_error(run_program(with(info, {"--set", "data.path=x"})), 2, "data.path is what PATH says");
}

TEST(Data, InfoNamesNoOtherPath) {
  const TemporaryFolder folder;
  for (const auto& [name, line] : std::vector<std::pair<std::string, std::string>>{
           {"new\nline", "new\\nline\"\n"}, {"by\xFFte", "by\\xFFte' is no name that settings can hold"}}) {
    const std::string path = (folder / name).string();
    expect_one_line_error(run_program({"data", "info", path}), 2,
                          name == "new\nline" ? "new\\nline': holds nothing" : "by\\xFFte': holds nothing");
    write_few_images(path);
    const Outcome outcome = run_program({"data", "info", path, "--set", "data.clients=2"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(line), std::string::npos) << outcome.out;
  }
}

TEST(Plan, NamesEveryClientsUnits) {
  const Outcome outcome = run_program({"plan", "--set", "round.clients=6", "--set", "data.writers=30"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::set<int> clients;
  for (std::string line; std::getline(lines, line);) {
    const Json job = Json::parse(line);
    clients.insert(job.at("client").get<int>());
    EXPECT_GT(job.at("examples"), 0);
    EXPECT_EQ(job.at("kept").at("conv2").size(), 32u);
    EXPECT_EQ(job.at("kept").at("dense1").size(), 1024u);
  }
  EXPECT_EQ(clients.size(), 6u);
}

TEST(Plan, ShowsByWhatOutputsAreMultiplied) {
  const std::vector<std::string> plan{"plan",
                                      "--set",
                                      "round.clients=1",
                                      "--set",
                                      "data.writers=30",
                                      "--set",
                                      "code.family=cwc",
                                      "--set",
                                      "code.layers.conv2.keep=0.75"};
  const Outcome rescaled = run_program(with(plan, {"--set", "code.rescale=true"}));
  ASSERT_EQ(rescaled.status, 0) << rescaled.err;
  const Json job = Json::parse(rescaled.out);
  EXPECT_NEAR(job.at("scale").at("conv2").get<double>(), 64.0 / 48, 1e-6);
  EXPECT_EQ(job.at("scale").at("dense1"), 2);
  const Outcome plain = run_program(with(plan, {"--set", "code.rescale=false"}));
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_FALSE(Json::parse(plain.out).contains("scale")) << plain.out;
}

TEST(Plan, ShowsTiersAndLayersWithTheirOwnCodes) {
  const Outcome outcome = run_program({"plan", "--set", "round.clients=12", "--set", "data.writers=30",
                                       "--set", "code.family=cwc", "--set", "code.layers.conv2.keep=0.75",
                                       "--set", "code.tiers=[1.0, 0.5]"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::set<double> tiers;
  for (std::string line; std::getline(lines, line);) {
    const Json job = Json::parse(line);
    const auto share = job.at("tier").get<double>();
    EXPECT_EQ(job.at("kept").at("conv2").size(), share == 1.0 ? 48u : 24u);
    EXPECT_EQ(job.at("kept").at("dense1").size(), share == 1.0 ? 1024u : 512u);
    tiers.insert(share);
  }
  EXPECT_EQ(tiers, (std::set<double>{0.5, 1.0}));

  const Outcome wrong = run_program({"plan", "--set", "code.layers.conv3.keep=0.75"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("nearest: conv2"), std::string::npos) << wrong.err;
}

TEST(Report, ComparesRunsInATableAndAPage) {
  const TemporaryFolder folder;
  for (const char* family : {"none", "gold"}) {
    ASSERT_EQ(run_program({"train", "--quiet", "--out", (folder / family).string(), "--set",
                           std::string("code.family=") + family, "--set", "model.name=emnist-mlp", "--set",
                           "run.rounds=2", "--set", "round.clients=3", "--set", "data.writers=20", "--set",
                           "run.eval_samples=100"})
                  .status,
              0);
  }
  const std::string page = (folder / "page.html").string(), svg = (folder / "chart.svg").string();
  const Outcome outcome = run_program(
      {"report", (folder / "none").string(), (folder / "gold").string(), "--out", page, "--svg", svg});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("gold 0.5"), std::string::npos) << outcome.out;
  EXPECT_NE(read_file(page).find("<svg"), std::string::npos);
  EXPECT_EQ(read_file(page).find("src=\"http"), std::string::npos) << "needs nothing else";
  EXPECT_EQ(markup_fault(read_file(page)), "");
  for (const char* part :
       {"data:image/png;base64,", "Bytes by layer", "code.family=none", "Client by client"}) {
    EXPECT_NE(read_file(page).find(part), std::string::npos) << part;
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "gold" / "events.out.tfevents.subfleet"));
  EXPECT_NE(read_file(svg).find("</svg>"), std::string::npos);
  EXPECT_EQ(run_program({"report", (folder / "nothing").string()}).status, 2);
}

// The commands that a help lists under "Subcommands:".
std::vector<std::string> listed_commands(const std::string& help) {
  const std::string title = "\nSubcommands:\n";
  const size_t at = help.find(title);
  if (at == std::string::npos) return {};
  std::istringstream lines(help.substr(at + title.size()));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (line.size() > 2 && line.starts_with("  ") && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

// Examples are of the command and have its options alone.
void expect_examples(const std::string& help, const std::string& command) {
  const size_t at = help.find("\nExamples:\n");
  ASSERT_NE(at, std::string::npos) << command;
  std::istringstream lines(help.substr(at + 11));
  size_t examples = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++examples) {
    EXPECT_NE(line.find(command), std::string::npos) << line;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const bool known = !word.starts_with("--") || help.find("  " + word + " ") != std::string::npos;
      EXPECT_TRUE(known) << word << " of " << line;
    }
  }
  EXPECT_GT(examples, 0u) << command;
}

TEST(Help, EveryCommandHasOneWithExamplesOfItsOptions) {
  const std::vector<std::string> commands = listed_commands(run_program({"--help"}).out);
  EXPECT_EQ(commands.size(), 13u);
  for (const std::string& command : commands) {
    const Outcome outcome = run_program({command, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out.find("TEXT"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("KEY=VALUE ..."), std::string::npos) << outcome.out;
    const std::vector<std::string> inner = listed_commands(outcome.out);
    if (inner.empty()) expect_examples(outcome.out, "subfleet " + command);
    for (const std::string& name : inner) {
      expect_examples(run_program({command, name, "--help"}).out,
                      fmt::format("subfleet {} {}", command, name));
    }
  }
  EXPECT_EQ(run_program({}).status, 2);
}

// What a page calls the program with: in lines to be typed, which go on after a backslash, and in sentences.
std::vector<std::string> calls_in(const std::string& page) {
  std::vector<std::string> calls;
  std::istringstream text(page);
  std::string joined;
  for (std::string line; std::getline(text, line);) {
    const bool goes_on = line.ends_with('\\');
    joined += goes_on ? line.substr(0, line.size() - 1) : line;
    if (goes_on) continue;
    const size_t at = joined.find("subfleet ");
    const bool typed = joined.starts_with("$ ") || joined.starts_with("    ");
    if (typed && at != std::string::npos) calls.push_back(joined.substr(at, joined.find(" #", at) - at));
    joined.clear();
  }
  for (size_t at = 0; (at = page.find("`subfleet ", at)) != std::string::npos;) {
    const size_t end = page.find('`', at + 1);
    if (end == std::string::npos) break;
    calls.push_back(page.substr(at + 1, end - at - 1));
    at = end;
  }
  std::erase_if(calls, [](const std::string& call) {  // find_package(subfleet 0.1)
    return call[9] < 'a' || call[9] > 'z';
  });
  return calls;
}

// The command that a line calls, and its help.
class CommandHelp {
 public:
  const std::string& of(const std::string& line) {
    std::istringstream words(line.substr(line.find(' ')));
    std::string command, inner;
    words >> command >> inner;
    const std::string& help = of(std::vector{command});
    return std::ranges::count(listed_commands(help), inner) == 0 ? help : of(std::vector{command, inner});
  }

 private:
  const std::string& of(const std::vector<std::string>& command) {
    auto found = helps_.find(command);
    if (found == helps_.end())
      found = helps_.emplace(command, run_program(with(command, {"--help"})).out).first;
    return found->second;
  }
  std::map<std::vector<std::string>, std::string> helps_;
};

TEST(Help, TheOptionsOfThePagesAreThere) {
  const std::filesystem::path root = std::filesystem::path(tiny_model()).parent_path().parent_path();
  std::vector<std::filesystem::path> pages{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  CommandHelp helps;
  size_t options = 0;
  for (const std::filesystem::path& page : pages) {
    for (const std::string& line : calls_in(read_file(page))) {
      const std::string& help = helps.of(line);
      EXPECT_NE(help.find("Usage: subfleet"), std::string::npos) << page << ": " << line;
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        if (word.starts_with('[')) word.erase(0, 1);
        if (!word.starts_with("--")) continue;
        word = word.substr(0, word.find_last_of("abcdefghijklmnopqrstuvwxyz") + 1);
        EXPECT_NE(help.find("  " + word + " "), std::string::npos) << word << " in " << page << ": " << line;
        ++options;
      }
    }
  }
  EXPECT_GT(options, 50u);
}

TEST(Help, ErrorsNameTheHelpOfTheirCommand) {
  expect_one_line_error(run_program({"data", "info"}), 2, "'subfleet data info --help'");
  expect_one_line_error(run_program({"report"}), 2, "'subfleet report --help'");
  expect_one_line_error(run_program({}), 2, "'subfleet --help'");
}

}  // namespace
}  // namespace subfleet
