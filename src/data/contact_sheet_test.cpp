#include "subfleet/data/contact_sheet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

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

// One client with one picture of one class; the channels are its arguments.
class OneColour final : public Federation {
 public:
  explicit OneColour(std::vector<float> channels) : channels_(std::move(channels)) {}
  uint32_t clients() const override { return 1; }
  Shape input() const override { return {channels_.size(), 32, 32}; }
  uint32_t classes() const override { return 1; }
  uint32_t samples(uint32_t) const override { return 1; }
  uint64_t fingerprint() const override { return 1; }
  std::string class_name(uint32_t) const override { return "colour"; }
  void read(uint32_t, Examples& into) const override {
    into = {.features = input().size(), .inputs = {}, .labels = {0}};
    for (const float channel : channels_) into.inputs.insert(into.inputs.end(), 32 * 32, channel);
  }

 private:
  std::vector<float> channels_;
};

TEST(ContactSheet, ColoursAreGreyAndBrightIsBright) {
  const auto grey_of = [](std::vector<float> channels) {
    GreyImage sheet = contact_sheet(OneColour(std::move(channels)), {});
    return sheet.at(sheet.width / 2, sheet.height - 20);
  };
  EXPECT_NEAR(grey_of({1, 1, 1}), 255, 1);
  EXPECT_NEAR(grey_of({0, 0, 0}), 0, 1);
  EXPECT_NEAR(grey_of({1, 0, 0.5f}), 128, 1);
  EXPECT_NEAR(grey_of({1}), 0, 1) << "one channel is ink";
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
