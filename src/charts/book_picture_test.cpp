#include "subfleet/charts/book_picture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace subfleet {
namespace {

ColourImage picture_of(const CodeBook& book, const CodeBook* beside = nullptr) {
  const BookQuality quality = measure(book, Shifts::kNone);
  if (beside == nullptr)
    return book_picture("a title", {.name = "book", .book = book, .quality = quality}, nullptr);
  const BookQuality other = measure(*beside, Shifts::kNone);
  const DrawnBook drawn{.name = "random", .book = *beside, .quality = other};
  return book_picture("a title", {.name = "book", .book = book, .quality = quality}, &drawn);
}

TEST(BookPicture, IsOfOneWidthAndOfBoundedHeightForAnyBook) {
  for (const size_t length : {1, 2, 16, 700, 1441, 3000, 100'000}) {
    for (const size_t rows : {1, 2, 5, 35, 481, 1000}) {
      if (rows * length > 10'000'000) continue;
      const BookRequest request{.length = length, .rows = rows};
      const CodeBook book = code_family("legendre").draw(request);
      const CodeBook random = code_family("random").draw(request);
      const ColourImage picture = picture_of(book, &random);
      EXPECT_EQ(picture.width, 1600U);
      EXPECT_LE(picture.height, 1500U) << length << " " << rows;
    }
  }
}

TEST(BookPicture, ShowsWhichUnitsAreKept) {
  CodeBook book(4, 8);
  for (size_t row = 0; row < 4; ++row) {
    for (size_t unit = 0; unit < 8; ++unit) book.set_bit(row, unit, unit % 4 == row);
  }
  ColourImage picture = picture_of(book);
  // 1440 / 8 pixels per unit, 24 per row; the plot begins where the first pixel under its upper line is.
  size_t top = 0;
  const auto at = [&](size_t row, size_t unit) {
    return picture.at(130 + unit * 180 + 90, top + row * 24 + 12);
  };
  const auto is_line = [&](size_t y) {
    return std::ranges::all_of(picture.pixels.begin() + static_cast<std::ptrdiff_t>(y * picture.width + 130),
                               picture.pixels.begin() + static_cast<std::ptrdiff_t>(y * picture.width + 1570),
                               [&](Colour pixel) {
                                 return pixel == picture.at(130, y) && pixel != Colour{0xff, 0xff, 0xff};
                               });
  };
  while (!is_line(top)) ++top;
  ++top;
  for (size_t row = 0; row < 4; ++row) {
    for (size_t unit = 0; unit < 8; ++unit) {
      EXPECT_EQ(at(row, unit), book.bit(row, unit) ? at(0, 0) : at(0, 1)) << row << " " << unit;
    }
  }
  EXPECT_LT(at(0, 0).red, at(0, 1).red) << "kept is darker";
}

TEST(BookPicture, TakesBooksWhoseWordsAreAllTheSame) {
  for (const char* name : {"none", "same"}) {
    const CodeBook book = code_family(name).draw({.length = 10, .rows = 3});
    EXPECT_EQ(picture_of(book).width, 1600U);
  }
}

}  // namespace
}  // namespace subfleet
