#include "codes/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "subfleet/error.h"

// What holds for every family: a new one is tested by being in the table.
namespace subfleet {
namespace {

const std::set<std::string_view> kNeverShuffled{"none", "prefix", "rolling"};
const std::set<std::string_view> kWindows{"prefix", "rolling"};

bool can_meet(const CodeFamily& family, size_t length, double keep) {
  try {
    family.weight(length, keep);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string message_of(const CodeFamily& family, const BookRequest& request) {
  try {
    family.draw(request);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "";
}

std::vector<BookRequest> legal_requests(const CodeFamily& family) {
  std::vector<BookRequest> requests;
  for (const size_t length : {1, 2, 7, 8, 15, 16, 31, 63, 64, 100, 127, 128, 1024, 2048}) {
    for (const double keep : {0.5, 0.25, 0.01, 1.0}) {
      // Searching is the dear part of cwc.
      if (family.name() == "cwc" && length > 64 && keep == 0.01) continue;
      if (!can_meet(family, length, keep)) continue;
      for (const size_t rows : {1, 2, 20})
        requests.push_back({.length = length, .rows = rows, .keep = keep, .seed = 7});
    }
  }
  return requests;
}

std::string name_of(const BookRequest& request) {
  return std::to_string(request.length) + " bits, " + std::to_string(request.rows) + " rows, keep " +
         std::to_string(request.keep);
}

class EveryFamily : public testing::TestWithParam<const CodeFamily*> {
 protected:
  const CodeFamily& family() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Codes, EveryFamily, testing::ValuesIn(code_families()),
                         [](const auto& tested) { return std::string(tested.param->name()); });

TEST_P(EveryFamily, IsFoundByItsName) {
  EXPECT_EQ(&code_family(family().name()), &family());
  EXPECT_FALSE(family().summary().empty());
}

TEST_P(EveryFamily, HasExactWeightsAndNoBitsBeyondTheLength) {
  const std::vector<BookRequest> requests = legal_requests(family());
  ASSERT_FALSE(requests.empty());
  for (const BookRequest& request : requests) {
    const CodeBook book = family().draw(request);
    ASSERT_EQ(book.rows(), request.rows);
    ASSERT_EQ(book.length(), request.length);
    const size_t weight = family().weight(request.length, request.keep);
    EXPECT_GE(weight, 1U);
    if (family().name() != "none") {
      EXPECT_LE(std::abs(static_cast<double>(weight) - request.keep * static_cast<double>(request.length)),
                0.99);
    }
    for (size_t row = 0; row < book.rows(); ++row) {
      EXPECT_EQ(book.kept(row).size(), weight) << name_of(request);
      EXPECT_EQ(book.weight(row), weight) << name_of(request);
      for (const uint32_t unit : book.kept(row)) ASSERT_LT(unit, request.length) << name_of(request);
    }
  }
}

TEST_P(EveryFamily, TheOrderOfTiersIsAPermutationNamedByTheRequest) {
  BookRequest request{.length = 64, .rows = 1, .seed = 11, .round = 3, .layer = 1};
  const std::vector<uint32_t> order = family().order(request);
  EXPECT_EQ(order.size(), 64U);
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), 64U);
  EXPECT_LT(*std::max_element(order.begin(), order.end()), 64U);
  EXPECT_EQ(family().order(request), order);
  if (kWindows.contains(family().name())) {
    const std::vector<uint32_t> word =
        family().draw({.length = 64, .rows = 1, .keep = 0.5, .round = 3}).kept(0);
    EXPECT_EQ(std::set(order.begin(), order.begin() + 32), std::set(word.begin(), word.end()))
        << "whole words first";
    return;
  }
  ++request.layer;
  EXPECT_NE(family().order(request), order);
  --request.layer;
  ++request.round;
  EXPECT_NE(family().order(request), order);
}

TEST_P(EveryFamily, TheSameRequestGivesTheSameBits) {
  const BookRequest request{.length = 64, .rows = 35, .seed = 11, .round = 3, .layer = 1};
  const CodeBook book = family().draw(request);
  for (size_t other = 1; other < 12; ++other) {  // more than any cache of words holds
    family().draw({.length = 64, .rows = 1 + other, .seed = other});
  }
  EXPECT_EQ(family().draw(request), book);
}

TEST_P(EveryFamily, ShufflesByRoundLayerAndSeed) {
  const BookRequest request{.length = 64, .rows = 35, .seed = 11, .round = 3, .layer = 1};
  const CodeBook book = family().draw(request);
  const auto differs = [&](void (*change)(BookRequest&)) {
    BookRequest changed = request;
    change(changed);
    return family().draw(changed) != book;
  };
  const bool shuffles = !kNeverShuffled.contains(family().name());
  EXPECT_EQ(differs([](BookRequest& r) { r.round = 4; }), shuffles || family().name() == "rolling");
  EXPECT_EQ(differs([](BookRequest& r) { r.layer = 2; }), shuffles);
  EXPECT_EQ(differs([](BookRequest& r) { r.seed = 12; }), shuffles);
}

TEST_P(EveryFamily, UsesAWordAgainOnlyAfterAll) {
  // The shortest length at which the family has words, so that they run out.
  std::optional<size_t> length;
  for (const size_t candidate : {6, 8, 15, 31}) {
    if (!length && can_meet(family(), candidate, 0.5)) length = candidate;
  }
  ASSERT_TRUE(length);
  const auto uses = [&](size_t rows) {
    const CodeBook book = family().draw({.length = *length, .rows = rows, .seed = 1});
    std::map<uint64_t, size_t> count;
    for (size_t row = 0; row < rows; ++row) ++count[book.row(row)[0]];
    return count;
  };
  const size_t words = uses(1000).size();
  EXPECT_EQ(uses(words).size(), words);
  for (const size_t rows : {words + 1, 2 * words, 3 * words + words / 2, size_t{1000}}) {
    EXPECT_EQ(uses(rows).size(), words);
    for (const auto& [word, count] : uses(rows)) {
      EXPECT_GE(count, rows / words);
      EXPECT_LE(count, (rows + words - 1) / words);
    }
  }
}

TEST_P(EveryFamily, RefusesWhatMakesNoSense) {
  EXPECT_NE(message_of(family(), {.length = 0, .rows = 35}), "");
  EXPECT_NE(message_of(family(), {.length = 64, .rows = 0}), "");
  EXPECT_NE(message_of(family(), {.length = 64, .rows = size_t{1} << 23}), "");
  EXPECT_NE(message_of(family(), {.length = size_t{1} << 29, .rows = 1}), "");
  EXPECT_NE(message_of(family(), {.length = std::numeric_limits<size_t>::max(), .rows = 1}), "");
  if (family().name() == "none") return;  // it heeds no fraction
  for (const double keep : {0.0, -0.5, 1.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(message_of(family(), {.length = 64, .rows = 35, .keep = keep}), "") << keep;
  }
}

TEST_P(EveryFamily, NamesWhatCanMeetARequestItCannot) {
  for (const size_t length : {1, 3, 33, 64, 100, 5000}) {
    for (const double keep : {0.5, 0.3}) {
      const std::string message = can_meet(family(), length, keep)
                                      ? "cwc and random"
                                      : message_of(family(), {.length = length, .rows = 35, .keep = keep});
      EXPECT_NE(message.find("cwc and random"), std::string::npos) << message;
      EXPECT_TRUE(can_meet(cwc_family(), length, keep));
      EXPECT_TRUE(can_meet(random_family(), length, keep));
    }
  }
}

TEST_P(EveryFamily, IsTheSameFromManyThreads) {
  const auto draw_all = [&] {
    std::vector<CodeBook> books;
    for (size_t rows = 1; rows <= 12; ++rows)
      books.push_back(family().draw({.length = 64, .rows = rows, .seed = 5}));
    return books;
  };
  const std::vector<CodeBook> expected = draw_all();
  std::vector<std::vector<CodeBook>> drawn(3);
  std::vector<std::jthread> threads;
  for (auto& books : drawn) threads.emplace_back([&] { books = draw_all(); });
  threads.clear();
  for (const auto& books : drawn) EXPECT_EQ(books, expected);
}

TEST(CodeFamilies, AnUnknownNameNamesTheNearest) {
  try {
    code_family("glod");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("nearest: gold"), std::string::npos) << error.what();
  }
}

TEST(CodeFamilies, SameAndPrefixGiveEveryClientOneWord) {
  for (const char* name : {"none", "same", "prefix", "rolling"}) {
    const CodeBook book = code_family(name).draw({.length = 100, .rows = 9, .keep = 0.3, .round = 5});
    for (size_t row = 1; row < book.rows(); ++row) EXPECT_EQ(book.distance(0, row), 0U) << name;
  }
}

TEST(CodeFamilies, RollingCoversEveryUnitEquallyOften) {
  std::vector<size_t> coverage(10, 0);
  for (uint32_t round = 0; round < 10; ++round) {
    for (const uint32_t unit :
         rolling_family().draw({.length = 10, .rows = 1, .keep = 0.3, .round = round}).kept(0)) {
      ++coverage[unit];
    }
  }
  EXPECT_EQ(coverage, std::vector<size_t>(10, 3));
  EXPECT_EQ(rolling_family().draw({.length = 10, .rows = 1, .keep = 0.3, .round = 9}).kept(0),
            (std::vector<uint32_t>{0, 1, 9}));
}

TEST(CodeFamilies, PrefixKeepsTheFirstUnits) {
  EXPECT_EQ(prefix_family().draw({.length = 10, .rows = 2, .keep = 0.3, .round = 4}).kept(1),
            (std::vector<uint32_t>{0, 1, 2}));
}

TEST(CodeFamilies, WalshWordsAreExactlyHalfApart) {
  const CodeBook book = walsh_family().draw({.length = 256, .rows = 255});
  for (size_t row = 1; row < book.rows(); ++row) {
    for (size_t other = 0; other < row; ++other) ASSERT_EQ(book.distance(row, other), 128U);
  }
}

TEST(CodeFamilies, RandomKeepsEveryUnitEquallyOften) {
  constexpr size_t kRows = 4000;
  const CodeBook book = random_family().draw({.length = 64, .rows = kRows, .keep = 0.25});
  for (size_t unit = 0; unit < 64; ++unit) {
    size_t rows = 0;
    for (size_t row = 0; row < kRows; ++row) rows += book.bit(row, unit);
    EXPECT_NEAR(static_cast<double>(rows), 1000, 6 * std::sqrt(kRows * 0.25 * 0.75)) << unit;
  }
}

// The words of `random` under another name.
class Renamed final : public CodeFamily {
 public:
  explicit Renamed(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "for a test"; }
  size_t weight(size_t length, double keep) const override { return random_family().weight(length, keep); }
  CodeBook draw(const BookRequest& request) const override { return random_family().draw(request); }

 private:
  std::string name_;
};

std::string complaint_about_registering(const std::string& name) {
  try {
    register_code_family(std::make_unique<Renamed>(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CodeFamilies, AProgramRegistersItsOwnOnce) {
  EXPECT_THROW(code_family("test-renamed"), Error);
  const size_t before = code_families().size();
  EXPECT_EQ(complaint_about_registering("test-renamed"), "");
  EXPECT_EQ(code_family("test-renamed").draw({.length = 64, .rows = 3}),
            random_family().draw({.length = 64, .rows = 3}));
  ASSERT_EQ(code_families().size(), before + 1);
  EXPECT_EQ(code_families().back()->name(), "test-renamed");

  EXPECT_NE(complaint_about_registering("test-renamed").find("is there already"), std::string::npos);
  EXPECT_NE(complaint_about_registering("gold").find("'gold' is there already"), std::string::npos);
  EXPECT_NE(complaint_about_registering("").find("empty"), std::string::npos);
  EXPECT_EQ(code_families().size(), before + 1);
}

TEST(CodeFamilies, FamiliesAreRegisteredWhileOthersAreLookedUp) {
  std::vector<std::jthread> threads;
  for (const char* name : {"test-thread-a", "test-thread-b"}) {
    threads.emplace_back([name] { register_code_family(std::make_unique<Renamed>(name)); });
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) code_family("gold");
    });
  }
  threads.clear();
  for (const char* name : {"test-thread-a", "test-thread-b"}) EXPECT_EQ(code_family(name).name(), name);
}

}  // namespace
}  // namespace subfleet
