#include "subfleet/charts/search_chart.h"

#include <gtest/gtest.h>

#include "markup_check.h"
#include "search/search_testing.h"

namespace subfleet {
namespace {

TEST(SearchChart, TellsWhoArrivedFromWhoWasStopped) {
  const Chart chart = search_chart(search_with(valley), "server.lr");
  ASSERT_EQ(chart.series.size(), 2U);
  ASSERT_EQ(chart.series[0].points.size(), 1U);
  EXPECT_EQ(chart.series[0].points[0].x, 0.01);
  EXPECT_EQ(chart.series[0].points[0].y, 20);
  EXPECT_EQ(chart.series[1].points.size(), 8U) << "four, and a gap behind each";
  EXPECT_EQ(markup_fault(svg_file(chart)), "");
}

}  // namespace
}  // namespace subfleet
