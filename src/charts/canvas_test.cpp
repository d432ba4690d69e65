#include "charts/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "charts/bitmap_font.h"

namespace subfleet {
namespace {

constexpr std::string_view kCharacters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:;-+=/()%_'^";

std::string dots_of(char character) {
  std::string dots;
  for (size_t y = 0; y < kFontHeight; ++y) {
    for (size_t x = 0; x < kFontWidth; ++x) dots += font_pixel(character, x, y) ? '#' : '.';
  }
  return dots;
}

size_t count_ink(const ColourImage& image) {
  return static_cast<size_t>(std::ranges::count_if(image.pixels, [](Colour pixel) {
    return pixel != Colour{0xff, 0xff, 0xff};
  }));
}

TEST(BitmapFont, CharactersAreAllDifferent) {
  std::set<std::string> seen;
  for (const char character : kCharacters) seen.insert(dots_of(character));
  EXPECT_EQ(seen.size(), kCharacters.size());
  EXPECT_FALSE(seen.contains(dots_of(' '))) << "none is blank";
  EXPECT_EQ(dots_of('\x01'), dots_of(' '));
}

TEST(BitmapFont, OnlyCharactersThatHangReachBelowTheLine) {
  for (const char character : kCharacters) {
    bool hangs = false;
    for (size_t y = kFontCapital; y < kFontHeight; ++y) {
      for (size_t x = 0; x < kFontWidth; ++x) hangs = hangs || font_pixel(character, x, y);
    }
    EXPECT_EQ(hangs, std::string_view("gjpqy,;_").find(character) != std::string_view::npos) << character;
  }
}

TEST(Canvas, TextIsPlacedByItsAlignment) {
  for (const Align align : {Align::kLeft, Align::kCentre, Align::kRight}) {
    Canvas canvas(200, 40);
    canvas.text(100, 10, "HH", {.scale = 2, .align = align});
    size_t left = 200;
    size_t right = 0;
    for (size_t x = 0; x < 200; ++x) {
      if (canvas.image().pixels[10 * 200 + x] == Colour{0xff, 0xff, 0xff}) continue;
      left = std::min(left, x);
      right = std::max(right, x + 1);
    }
    EXPECT_EQ(right - left, text_width("HH", 2));
    EXPECT_EQ(left, align == Align::kLeft ? 100U : align == Align::kCentre ? 89U : 78U);
  }
}

TEST(Canvas, TextUpwardsHasTheSameInk) {
  Canvas across(100, 100);
  across.text(20, 20, "client");
  Canvas upwards(100, 100);
  upwards.text_upwards(20, 50, "client");
  EXPECT_GT(count_ink(across.image()), 100U);
  EXPECT_EQ(count_ink(across.image()), count_ink(upwards.image()));
}

TEST(Canvas, WhatLiesOutsideIsLeftOut) {
  Canvas canvas(10, 10);
  canvas.text(8, 8, "client");
  canvas.fill({.left = 5, .top = 20, .width = 10, .height = 10}, {});
  canvas.fill({.left = 9, .top = 9, .width = 10, .height = 10}, {});
  EXPECT_EQ(canvas.image().pixels.back(), Colour{});
}

}  // namespace
}  // namespace subfleet
