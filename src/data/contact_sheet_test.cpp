#include "data/contact_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "subfleet/error.h"

namespace subfleet {
namespace {

// The sheet's grid as the header promises it: classes across, clients down, the last row above a margin.
uint8_t darkest(GreyImage& sheet, size_t column, size_t rows, size_t row) {
  const size_t margin = (sheet.width - 62 * 28) / 2;
  const size_t top = sheet.height - margin - (rows - row) * 28;
  uint8_t found = 255;
  for (size_t y = 0; y < 28; ++y) {
    for (size_t x = 0; x < 28; ++x) found = std::min(found, sheet.at(margin + column * 28 + x, top + y));
  }
  return found;
}

TEST(ContactSheet, ShowsInkExactlyWhereTheClientHasTheClass) {
  const auto data = open_federation({.writers = 5});
  GreyImage sheet = contact_sheet(*data, {.first = 1, .rows = 3});
  for (uint32_t row = 0; row < 3; ++row) {
    const Examples page = data->load(1 + row);
    for (int32_t label = 0; label < 62; ++label) {
      const bool has = std::count(page.labels.begin(), page.labels.end(), label) > 0;
      EXPECT_EQ(darkest(sheet, static_cast<size_t>(label), 3, row) < 150, has) << row << " " << label;
    }
  }
}

TEST(ContactSheet, ScaleEnlargesAndRowsStopAtTheLastClient) {
  const auto data = open_federation({.writers = 2});
  const GreyImage small = contact_sheet(*data, {.rows = 2});
  const GreyImage large = contact_sheet(*data, {.rows = 50, .scale = 3});
  EXPECT_EQ(large.width, 3 * small.width);
  EXPECT_EQ(large.height, 3 * small.height);
}

TEST(ContactSheet, RefusesWhatCannotBeDrawn) {
  const auto data = open_federation({.writers = 2});
  EXPECT_THROW(contact_sheet(*data, {.first = 2}), Error);
  EXPECT_THROW(contact_sheet(*data, {.rows = 0}), Error);
  EXPECT_THROW(contact_sheet(*data, {.scale = 0}), Error);
  EXPECT_THROW(contact_sheet(*data, {.scale = 4'000'000'000}), Error);
}

}  // namespace
}  // namespace subfleet
