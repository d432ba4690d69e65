#include "subfleet/report/reproduce_report.h"

#include <gtest/gtest.h>

#include <string>

namespace subfleet {
namespace {

// Everything that an experiment's file says has a tag in it.
Experiment tagged() {
  Experiment experiment;
  experiment.name = "e";
  experiment.title = "<b>title</b>";
  experiment.paper = "Table <i>1";
  experiment.about = "<script>about</script> and `<code>`.";
  experiment.kind = ExperimentKind::kFacts;
  experiment.readings = {"<u>reading"};
  for (const char* const number : {"1", "2", "3", "4"}) {
    ExpectedValue& value = experiment.values.emplace_back();
    value.what = "<p>" + std::string(number);
    value.paper = parse_claim(number);
    value.reason = "<img src=reason>";
  }
  return experiment;
}

TEST(ReproduceReport, TagsInMarkdownAreText) {
  const Experiment experiment = tagged();
  ExperimentResult result;
  result.experiment = &experiment;
  result.trainers = {"<a>trainer"};
  for (size_t i = 0; i < experiment.values.size(); ++i) {
    const Estimate ours{.mean = 9, .interval = 1, .count = 2};
    result.results.push_back({{.ours = ours, .verdict = Verdict::kDiffers}});
  }
  const std::string page = reproduce_markdown(result);
  for (const char* text : {"## &lt;b>title&lt;/b>\n", "Table &lt;i>1 of the paper", "&lt;script>about",
                           "and `<code>`.", "| &lt;u>reading |", "- &lt;p>1: &lt;img src=reason>\n",
                           "![&lt;b>title&lt;/b>](e.svg)", "Trained by &lt;a>trainer."}) {
    EXPECT_NE(page.find(text), std::string::npos) << text << " is not in\n" << page;
  }
  EXPECT_EQ(page.find('<'), page.find("<code>")) << page;
}

}  // namespace
}  // namespace subfleet
