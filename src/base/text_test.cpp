#include "subfleet/base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace subfleet {
namespace {

TEST(Text, BytesHaveThreeDigitsAndADecimalUnit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 kB");
  EXPECT_EQ(human_bytes(26'414'840), "26.4 MB");
  EXPECT_EQ(human_bytes(999'600), "1.00 MB");
  EXPECT_EQ(human_bytes(184.8e9), "185 GB");
  EXPECT_EQ(human_bytes(std::numeric_limits<double>::infinity()), "-");
}

TEST(Text, TimeCarriesIntoTheNextUnit) {
  EXPECT_EQ(human_time(0.4), "0 s");
  EXPECT_EQ(human_time(59.6), "1 m 00 s");
  EXPECT_EQ(human_time(200), "3 m 20 s");
  EXPECT_EQ(human_time(7500), "2 h 05 m");
  EXPECT_EQ(human_time(90'000), "1 d 01 h");
  EXPECT_EQ(human_time(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(human_time(-1), "-");
}

TEST(Text, PercentOfNothingIsADash) {
  EXPECT_EQ(human_percent(0.8414), "84.1 %");
  EXPECT_EQ(human_percent(std::nullopt), "-");
  EXPECT_EQ(human_percent(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Text, OnlyOneIsSingular) {
  EXPECT_EQ(counted(0, "round"), "0 rounds");
  EXPECT_EQ(counted(1, "round"), "1 round");
  EXPECT_EQ(counted(2, "query"), "2 queries");
}

TEST(Text, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(text_width("größe"), 5U);
  EXPECT_EQ(pad_left("größe", 7), "  größe");
  EXPECT_EQ(pad_right("größe", 7), "größe  ");
  EXPECT_EQ(clip_text("größengleich", 8), "größe...");
  EXPECT_EQ(clip_text("größe", 5), "größe");
  EXPECT_EQ(clip_text("größe", 2), "..");
}

TEST(Text, TablesAreAlignedWithNoSpaceAtTheEnd) {
  EXPECT_EQ(align_table({{"name", "n", "note"}, {"größe", "10", ""}, {"a", "7", "x"}}, "lrl"),
            "name    n  note\n-----  --  ----\ngröße  10  \na       7  x\n");
}

TEST(Text, PrintableKeepsUtf8AndReplacesWhatCannotBeShown) {
  EXPECT_EQ(printable("a\tb\nc é ✓ 😀"), "a\tb\nc é ✓ 😀");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "?[31mred?");
  EXPECT_EQ(printable("\xff\xc3"), "??");       // no lead byte; a character cut off
  EXPECT_EQ(printable("\xc0\xaf"), "??");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "??2J");  // a control character of two bytes
}

TEST(Text, OneLineIsOne) { EXPECT_EQ(one_line("a\tb\nc\r✓"), "a?b?c?✓"); }

TEST(Text, MarkupIsEscaped) {
  EXPECT_EQ(escape_markup("<b a=\"x\">'&'</b>\x01"), "&lt;b a=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;?");
}

TEST(Text, Base64IsThatOfTheStandard) {  // the examples of RFC 4648
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace subfleet
