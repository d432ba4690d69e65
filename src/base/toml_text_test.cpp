#include "base/toml_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string complaint(const std::string& text) {
  try {
    parse_toml(text, "f.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(TomlText, ValuesAreVisitedUnderTheirDottedNames) {
  std::string seen;
  for_each_value(parse_toml("a = 1\nb.c = [2, 3]\n[b.d]\n'e f' = 'x'\n[g]", "f.toml"),
                 [&](const std::string& name, const toml::node& value) {
                   seen += fmt::format("{}={};", name, value_text(value));
                 });
  EXPECT_EQ(seen, "a=1;b.c=[2, 3];b.d.e f=x;");
}

TEST(TomlText, DepthIsRefusedWithItsLineBeforeItIsParsed) {
  for (const size_t depth : {size_t{20}, size_t{40'000}}) {
    const std::string key = repeated("a.", depth) + "a", quoted = repeated("\"a\" . ", depth) + "a";
    EXPECT_EQ(complaint("x = 1\n" + key + " = 1"), "f.toml: line 2: a key of more than 16 parts");
    EXPECT_EQ(complaint("[" + key + "]"), "f.toml: line 1: a key of more than 16 parts");
    EXPECT_EQ(complaint("x = {y = 1, " + quoted + " = 1}"), "f.toml: line 1: a key of more than 16 parts");
    EXPECT_EQ(complaint("x = \"\"\"\n\"\"\"\"\n" + key + " = 1"),
              "f.toml: line 3: a key of more than 16 parts");
    EXPECT_EQ(complaint("x = " + repeated("[\n", depth)),
              "f.toml: line 17: more than 16 brackets in one another");
    EXPECT_EQ(complaint("x = " + repeated("{a = ", depth)),
              "f.toml: line 1: more than 16 brackets in one another");
  }
}

TEST(TomlText, DotsAndBracketsInTextsAndCommentsAreNotDepth) {
  const std::string many = repeated(".[{", 1000);
  for (const char* around : {R"(x = "{0}\"{0}")", "x = '{0}'", "# {0}", "x = \"\"\"\n{0}\"\" \"\"\"\"\" #{0}",
                             "x = '''\n{0}'' {0}''''", R"("{0}" = 1)"}) {
    const std::string text = fmt::format(fmt::runtime(around), many);
    EXPECT_EQ(complaint(text), "none") << text.substr(0, 20);
  }
  EXPECT_EQ(complaint(repeated("[[a.b]]\nx.y = [1.5, {z = 2.5}]\n", 1000)), "none");
}

TEST(TomlText, ValuesAreShownAsPeopleWriteThem) {
  const toml::table table = parse_toml("a = 'x'\nb = 0.03\nc = [1.0, [0.5, true]]\nd = 7", "f.toml");
  EXPECT_EQ(value_text(*table.get("a")), "x");
  EXPECT_EQ(value_text(*table.get("b")), "0.03");
  EXPECT_EQ(value_text(*table.get("c")), "[1, [0.5, true]]");
  EXPECT_EQ(value_text(*table.get("d")), "7");
}

TEST(TomlText, MistakesAreOneLineWithItsNumber) {
  EXPECT_EQ(complaint("x = 1\ny = = 2").substr(0, 15), "f.toml: line 2:");
  EXPECT_EQ(complaint("\xff = 1").substr(0, 15), "f.toml: line 1:");
  EXPECT_NE(complaint(std::string(kMostTextBytes + 1, ' ')).find("too much"), std::string::npos);
}

}  // namespace
}  // namespace subfleet
