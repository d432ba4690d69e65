// The reproduce command as a user meets it: searches, runs with the rates they found, stopped and started
// again.

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "markup_check.h"
#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

// Two runs under two readings.
std::string common(const std::string& model = "file = '" + tiny_model() + "'") {
  std::string text = R"(
[[reading]]
name = "over all"
settings.server.mean = "all"
[[reading]]
name = "over holders"
[settings]
model = { MODEL }
data.writers = 30
round = { clients = 4, client_lr = 0.2 }
server = { optimizer = "fedadam" }
run = { rounds = 6, eval_every = 1, eval_samples = 200 }
tune = { target = "2x", window = 1, steps = 1, outward = 0 }
[[run]]
name = "none"
settings.code.family = "none"
[[run]]
name = "random"
settings.code.family = "random"
)";
  return text.replace(text.find("MODEL"), 5, model);
}

// A tiny paper: two searches each, runs with the rates that they found, and what follows from the network.
std::filesystem::path tiny_paper(const TemporaryFolder& folder) {
  make_folder(folder / "e" / "paper");
  const auto write = [&](const char* name, const std::string& text) {
    write_file(folder / "e" / "paper" / name, text);
  };
  write("searches.toml",
        "title = \"S\"\npaper = \"Table 1\"\nkind = \"searches\"\nseeds = [1, 2]\n" + common() +
            "[[value]]\nrun = \"none\"\nmeasure = \"share\"\nat = [-3, -2]\npaper = [0, 50]\n");
  write("extra.toml",
        "title = \"X\"\nruns_of = \"searches\"\n"
        "[[value]]\nrun = \"random\"\nmeasure = \"extra rounds\"\npaper = \"> 0\"\n"
        "[[value]]\nrun = \"random\"\nmeasure = \"extra rounds\"\npaper = 40\n"
        "[[value]]\nrun = \"none\"\nmeasure = \"extra rounds\"\npaper = 30\n"
        "[[value]]\nrun = \"random\"\nmeasure = \"rounds\"\npaper = 20\n"
        "[[value]]\nrun = \"none\"\nmeasure = \"rounds\"\npaper = 10\n");
  write("accuracy.toml", "title = \"A\"\nrates_from = \"searches\"\nseeds = [1, 2]\nlast_rounds = 2\n" +
                             common() +
                             "[[value]]\nrun = \"none\"\nmeasure = \"accuracy\"\nunit = \"%\"\npaper = "
                             "\"-1000\"\nreason = \"it is below 0\"\n");
  write("rates.toml", "title = \"R\"\nkind = \"rates\"\nrates = [-3, -2]\nseeds = [1]\n" + common() +
                          "[[value]]\nrun = \"none\"\nmeasure = \"rounds\"\nat = -2\n");
  write("facts.toml",
        "title = \"F\"\nkind = \"facts\"\n[[run]]\nname = \"cnn\"\n"
        "[[value]]\nmeasure = \"parameters\"\nwhat = \"all\"\npaper = 6603710\n");
  return folder / "e";
}

Json value_of(const Json& results, const std::string& experiment, size_t value) {
  for (const Json& one : results) {
    if (one.at("experiment") == experiment) return one.at("values").at(value);
  }
  return nullptr;
}

TEST(Reproduce, MakesTablesFromSearchesRunsAndFacts) {
  const TemporaryFolder folder;
  const std::vector<std::string> command{
      "reproduce", "all", "--experiments", tiny_paper(folder).string(), "--out", (folder / "o").string()};
  const Outcome outcome = run_program(command);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find('\r'), std::string::npos);
  const Json results = Json::parse(read_file(folder / "o" / "results.json"));
  ASSERT_EQ(results.size(), 5u);

  double shares = 0;
  for (const size_t value : {0, 1}) {
    const Json readings = value_of(results, "searches", value).at("readings");
    ASSERT_EQ(readings.size(), 2u);
    EXPECT_EQ(readings[0].at("count"), 2);
    shares += readings[1].at("mean").get<double>();
  }
  EXPECT_LE(shares, 100);
  EXPECT_EQ(value_of(results, "extra", 0).at("readings")[1].at("verdict"), "agrees");
  const Json accuracy = value_of(results, "accuracy", 0);
  EXPECT_EQ(accuracy.at("paper"), "-1000");
  EXPECT_EQ(accuracy.at("readings")[1].at("verdict"), "differs");
  EXPECT_GT(accuracy.at("readings")[1].at("mean").get<double>(), 2);
  EXPECT_EQ(value_of(results, "facts", 0).at("readings")[0].at("verdict"), "agrees");

  const std::string page = read_file(folder / "o" / "results.md");
  EXPECT_NE(page.find("it is below 0"), std::string::npos) << page;
  for (const char* picture : {"accuracy-over-holders-bytes.svg", "accuracy-over-all-rounds.svg",
                              "rates-over-all.svg", "extra.svg"}) {
    EXPECT_NE(page.find(picture), std::string::npos);
    EXPECT_EQ(markup_fault(read_file(folder / "o" / picture)), "") << picture;
  }

  for (const auto& run : std::filesystem::directory_iterator(folder / "o" / "runs")) {
    EXPECT_TRUE(std::filesystem::exists(run.path() / "model.safetensors"));
    EXPECT_FALSE(std::filesystem::exists(run.path() / "checkpoint.safetensors")) << "takes room for nothing";
  }

  EXPECT_NE(outcome.out.find("made in "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("subfleet report "), std::string::npos) << outcome.out;

  // Again: nothing is left to do, and the results are the same.
  const Outcome again = run_program(command);
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.out.find(", seed"), std::string::npos) << again.out;
  EXPECT_EQ(Json::parse(read_file(folder / "o" / "results.json")), results);
  EXPECT_EQ(read_file(folder / "o" / "results.md"), page);

  // What is gone is not made again for the tables alone; those that it was in stay.
  std::filesystem::remove_all(folder / "o" / "searches");
  EXPECT_EQ(run_program(with(command, {"--tables"})).status, 0);
  EXPECT_EQ(value_of(Json::parse(read_file(folder / "o" / "results.json")), "accuracy", 0), accuracy);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "o" / "searches"));

  // One of them with fewer seeds: the tables of the others stay.
  std::vector<std::string> fewer = with(command, {"--seeds", "1"});
  std::ranges::replace(fewer, "all", "rates");
  EXPECT_EQ(run_program(fewer).status, 0);
  const std::string changed = read_file(folder / "o" / "results.md");
  EXPECT_NE(changed.find("`subfleet reproduce searches`: Table 1 of the paper. 2 seeds each."),
            std::string::npos)
      << changed;
}

TEST(Reproduce, SuggestsAReportOnlyOfRunsThatAreThere) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"reproduce", "facts", "rates", "--experiments",
                                       tiny_paper(folder).string(), "--out", (folder / "o").string()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("everything is in "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("subfleet report"), std::string::npos) << outcome.out;
}

TEST(Reproduce, GoesOnAfterASignalAndEndsWithTheSameResults) {
  const TemporaryFolder folder;
  const std::string experiments = tiny_paper(folder).string();
  const auto command = [&](const char* out) {
    return std::vector<std::string>{"reproduce",     "accuracy",  "--seeds", "1",
                                    "--experiments", experiments, "--out",   (folder / out).string()};
  };
  ASSERT_EQ(run_program(command("whole")).status, 0);
  const auto a_run_has_begun = [&] {
    std::error_code code;
    const std::filesystem::directory_iterator runs(folder / "cut" / "runs", code);
    return !code && runs != std::filesystem::directory_iterator();
  };
  run_program(command("cut"), {.signal_when = a_run_has_begun, .signal = SIGKILL});
  EXPECT_FALSE(std::filesystem::exists(folder / "cut" / "accuracy-over-all-rounds.svg"));
  ASSERT_EQ(run_program(command("cut")).status, 0);
  for (const char* name : {"results.json", "results.md"})
    EXPECT_EQ(read_file(folder / "whole" / name), read_file(folder / "cut" / name));
}

// Images of 28 x 28, to be dealt out; in image i, `step` decides which pixels are dark.
std::string image_folder(const std::filesystem::path& folder, uint32_t step) {
  constexpr uint32_t kImages = 200;
  const auto number = [](uint32_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(value >> shift));
    return bytes;
  };
  std::string images = number(0x803) + number(kImages) + number(28) + number(28);
  std::string labels = number(0x801) + number(kImages);
  for (uint32_t i = 0; i < kImages; ++i) {
    labels.push_back(static_cast<char>(i % 62));
    for (uint32_t pixel = 0; pixel < 28 * 28; ++pixel)
      images.push_back(static_cast<char>(pixel * step % 62 < i % 62 ? 0 : 255));
  }
  make_folder(folder);
  write_file(folder / "x-images-idx3-ubyte", images);
  write_file(folder / "x-labels-idx1-ubyte", labels);
  return folder.string();
}

// What is made side by side has the same data, and is one only if it cannot differ.
TEST(Reproduce, TogetherIsTheSameAsOneAfterTheOther) {
  const TemporaryFolder folder;
  make_folder(folder / "e" / "paper");
  std::string text = "title = \"T\"\nseeds = [1, 2]\nlast_rounds = 2\n" + common("name = 'emnist-mlp'");
  const auto add = [&](const std::string& name, const std::string& settings) {
    text += "[[run]]\nname = \"" + name + "\"\nsettings = { " + settings + " }\n" + "[[value]]\nrun = \"" +
            name + "\"\nmeasure = \"accuracy\"\n";
  };
  for (const auto& [name, step] : {std::pair("here", 1u), std::pair("there", 17u)}) {
    add(name,
        "code.family = \"none\", data = { source = \"idx\", partition = \"iid\", clients = 8, path = \"" +
            image_folder(folder / name, step) + "\" }");
  }
  add("again", "code.family = \"random\"");
  add("tiers", "code = { family = \"same\", tiers = [1.0, 0.5] }");
  add("a layer", "code = { family = \"none\", layers.dense2 = { family = \"random\", keep = 0.25 } }");
  write_file(folder / "e" / "paper" / "t.toml", text);
  const auto results = [&](const char* out, const char* together) {
    const Outcome outcome =
        run_program({"reproduce", "t", "--experiments", (folder / "e").string(), "--together", together,
                     "--set", "run.rounds=4", "--out", (folder / out).string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return read_file(folder / out / "results.json");
  };
  const std::string one = results("one", "1");
  EXPECT_EQ(one, results("four", "4"));
  const auto mean = [json = Json::parse(one)](size_t value, size_t reading) {
    return value_of(json, "t", value).at("readings")[reading].at("mean").get<double>();
  };
  EXPECT_EQ(mean(0, 0), mean(0, 1)) << "all hold all";
  EXPECT_NE(mean(0, 0), mean(1, 0)) << "other data";
  for (const auto& run : std::filesystem::directory_iterator(folder / "one" / "runs"))
    EXPECT_FALSE(run.path().filename().string().starts_with("again")) << "the same as 'random'";
  EXPECT_NE(mean(3, 0), mean(3, 1)) << "weaker clients hold less";
  EXPECT_NE(mean(4, 0), mean(4, 1)) << "not all hold all";
}

// A run goes on where its search's winner was; or, where the file says so, all seeds begin anew with one
// rate.
TEST(Reproduce, RunsGoOnFromTheirSearchesOrHaveTheRateThatMostFound) {
  const TemporaryFolder folder;
  const std::filesystem::path experiments = tiny_paper(folder);
  write_file(experiments / "paper" / "anew.toml",
             "title = \"N\"\nrates_from = \"searches\"\nrate = \"most often\"\nseeds = [1, 2]\n" + common());
  const auto reproduce = [&](const char* what, const char* out, const char* together) {
    const Outcome outcome = run_program({"reproduce", what, "--experiments", experiments.string(),
                                         "--together", together, "--out", (folder / out).string()});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  };
  const auto list = [&](const char* of) { return std::filesystem::directory_iterator(folder / "o" / of); };
  // "random-2" of "random-2-0123456789".
  const auto slug = [](const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return name.substr(0, name.find('-') + 2);
  };
  reproduce("accuracy", "o", "1");
  std::multimap<std::string, std::vector<double>> winners;
  for (const auto& file : list("searches")) {
    const Json search = Json::parse(read_file(file.path()));
    ASSERT_EQ(search.at("outcome"), "found") << "or this tests nothing";
    for (const Json& candidate : search.at("candidates")) {
      if (candidate.at("value") == search.at("best"))
        winners.emplace(slug(file.path()), candidate.at("curve").get<std::vector<double>>());
    }
  }
  size_t runs = 0;
  for (const auto& run : list("runs")) {
    std::istringstream log(read_file(run.path() / "rounds.jsonl"));
    std::vector<double> accuracies;
    for (std::string line; std::getline(log, line);)
      accuracies.push_back(Json::parse(line).at("train_accuracy_median").get<double>());
    const auto [first, last] = winners.equal_range(slug(run.path()));
    EXPECT_TRUE(std::any_of(first, last, [&](const auto& winner) {
      const size_t rounds = std::min(winner.second.size(), accuracies.size());
      return std::equal(accuracies.begin(), accuracies.begin() + static_cast<ptrdiff_t>(rounds),
                        winner.second.begin());
    })) << run.path();
    ++runs;
  }
  EXPECT_EQ(runs, 6u) << "none in one reading, random in two, two seeds each";

  std::filesystem::create_directory(folder / "two");
  std::filesystem::copy(folder / "o" / "searches", folder / "two" / "searches");
  reproduce("accuracy", "two", "2");
  const auto accuracy = [&](const char* out) {
    return value_of(Json::parse(read_file(folder / out / "results.json")), "accuracy", 0);
  };
  EXPECT_EQ(accuracy("o"), accuracy("two"));

  reproduce("anew", "o", "1");
  std::map<std::string, std::set<std::string>> rates;  // by the run
  for (const auto& run : list("runs")) {
    const std::string config = read_file(run.path() / "config.toml");
    if (config.find("first_draw = 0\n") == std::string::npos) continue;
    const size_t rate = config.find("lr = ", config.find("[server]"));
    rates[slug(run.path())].insert(config.substr(rate, config.find('\n', rate) - rate));
  }
  EXPECT_EQ(rates.at("none-1"), rates.at("none-2"));
}

// One sub-model for all has the same mean over its holders as over all: the experiments train it once.
TEST(Reproduce, WhereAllHoldTheSameTheMeansAreOne) {
  const TemporaryFolder folder;
  const auto trained = [&](const std::string& optimizer, const std::string& mean) {
    const auto run = folder / (optimizer + "-" + mean);
    std::vector<std::string> command{"train", "--out", run.string()};
    for (const std::string& setting : std::initializer_list<std::string>{
             "model.name=emnist-mlp", "code.family=same", "data.writers=10", "round.clients=3",
             "run.rounds=3", "server.optimizer=" + optimizer, "server.mean=" + mean}) {
      command.insert(command.end(), {"--set", setting});
    }
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return read_file(run / "model.safetensors");
  };
  EXPECT_EQ(trained("fedavg", "all"), trained("fedavg", "holders"));
  EXPECT_EQ(trained("fedadam", "all"), trained("fedadam", "holders"));
}

TEST(Reproduce, BadRequestsAreOneLine) {
  const TemporaryFolder folder;
  const std::string experiments = tiny_paper(folder).string(), out = (folder / "o").string();
  const auto outcome_of = [&](const std::vector<std::string>& more) {
    return run_program(with({"reproduce", "--experiments", experiments, "--out", out}, more));
  };
  expect_one_line_error(outcome_of({}), 2, "say what");
  expect_one_line_error(outcome_of({"serches"}), 2, "nearest: searches");
  expect_one_line_error(run_program({"reproduce", "all", "--experiments", (folder / "none").string()}), 2,
                        "is no folder of experiments");
  const auto with_file = [&](const std::string& text) {
    write_file(folder / "e" / "paper" / "bad.toml", text);
    return outcome_of({"bad"});
  };
  expect_one_line_error(with_file("kind = \"fact\""), 2, "bad.toml: kind: unknown 'fact'");
  expect_one_line_error(with_file("kind = \"facts\"\n[[run]]\nname = \"a\"\n[[value]]\nmeasure = \"size\""),
                        2, "bad.toml: measure: unknown 'size'");
  expect_one_line_error(
      with_file("runs_of = \"searches\"\n[[value]]\nmeasure = \"rounds\"\nrun = \"nobody\""), 2,
      "bad.toml: run: unknown 'nobody'");
  expect_one_line_error(with_file("runs_of = \"bad\""), 2, "is made from itself");
  expect_one_line_error(with_file("rate = \"own\""), 2, "bad.toml: rate: says which rate of rates_from");
  expect_one_line_error(with_file("rates_from = \"searches\"\nrate = \"best\""), 2, "rate: unknown 'best'");
  const auto with_members = [&](const std::string& keys, const std::string& settings) {
    return with_file(keys + "\n[[run]]\nname = \"a\"\nmembers = 2\n" + settings);
  };
  expect_one_line_error(with_members("seeds = [1]\nkind = \"searches\"", ""), 2,
                        "bad.toml: run 'a': members: only runs");
  expect_one_line_error(with_members("seeds = [1, 1000000]", ""), 2, "must be below 1000000");
  expect_one_line_error(
      run_program({"sweep", (folder / "e" / "paper" / "bad.toml").string(), "--out", out + "-sweep"}), 2,
      "run 'a': members: a sweep has no ensembles");
  expect_one_line_error(with_file("seeds = [1]\n[[value]]\nmeasure = \"accuracy\"\npaper = \"good\""), 2,
                        "'good' is no number");
  const auto with_value = [&](const std::string& keys) {
    return with_file("seeds = [1]\n[[run]]\nname = \"a\"\n[[value]]\n" + keys);
  };
  expect_one_line_error(with_value("measure = \"accuracy\""), 2, "measure 'accuracy' needs 'run'");
  expect_one_line_error(with_value("measure = \"accuracy ratio\"\nrun = \"a\""), 2,
                        "measure 'accuracy ratio' needs 'of'");
  expect_one_line_error(with_value("measure = \"accuracy\"\nrun = \"a\"\nunit = \"percent\""), 2,
                        "unit: unknown");
  expect_one_line_error(with_value("measure = \"accuracy\"\nrun = \"a\"\npaper_trials = 0.5"), 2,
                        "must be a whole number");
}

}  // namespace
}  // namespace subfleet
