#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "codes/families.h"
#include "subfleet/codes/quality.h"

namespace subfleet {
namespace {

std::string name_of(const BookRequest& request) {
  return std::to_string(request.length) + " units, keep " + std::to_string(request.keep);
}

size_t prime_from(size_t length) {
  const auto is_prime = [](size_t n) {
    for (size_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return n > 2;
  };
  while (!is_prime(length)) ++length;
  return length;
}

TEST(Legendre, HalvesOfAPrimeAreAlmostUncorrelated) {
  for (const size_t prime : {7, 31, 101, 521, 2053}) {
    const double keep = static_cast<double>(prime - 1) / static_cast<double>(2 * prime);
    const CodeBook book = legendre_family().draw({.length = prime, .rows = prime, .keep = keep});
    EXPECT_LE(*measure(book, Shifts::kNone).correlation, 3U) << prime;
  }
}

// The words of all p units correlate by 3 at most. Each of the p - length missing ones costs 1, and, for
// these and for what rounding adds, (p - length + 2) / 2 places of each word are exchanged, which cost 2
// each.
TEST(Legendre, HalvesOfAnyLengthKeepTheBound) {
  for (size_t length = 2; length <= 300; ++length) {
    const size_t prime = prime_from(length);
    const CodeBook book = legendre_family().draw({.length = length, .rows = prime});
    EXPECT_LE(*measure(book, Shifts::kNone).correlation, 7 + 3 * (prime - length)) << length;
  }
}

TEST(Legendre, HasAllShiftsAndTheirTwins) {
  for (const size_t length : {31, 61, 100, 521}) {
    const CodeBook book = legendre_family().draw({.length = length, .rows = 2 * length, .keep = 0.25});
    EXPECT_EQ(measure(book, Shifts::kNone).distinct_words, 2 * length);
  }
}

// Compared is what the largest overlap has above that of independent words.
TEST(Legendre, OverlapsAreFarBelowThoseOfRandomWords) {
  for (const size_t length : {100, 512, 1000, 2048, 3000}) {
    for (const double keep : {0.25, 0.3, 0.5, 0.75}) {
      const BookRequest request{.length = length, .rows = 35, .keep = keep, .seed = 1};
      const BookQuality quality = measure(legendre_family().draw(request), Shifts::kNone);
      const BookQuality random = measure(random_family().draw(request), Shifts::kNone);
      const double even = keep * keep * static_cast<double>(length);
      const double share = keep == 0.5 ? 0.2 : 0.55;
      EXPECT_LE(static_cast<double>(*quality.largest_overlap) - even,
                share * (static_cast<double>(*random.largest_overlap) - even))
          << name_of(request);
      EXPECT_LT(*quality.correlation, *random.correlation) << name_of(request);
    }
  }
}

TEST(Legendre, ManyRowsStayBelowRandomWords) {
  for (const double keep : {0.25, 0.5, 0.75}) {
    const BookRequest request{.length = 2048, .rows = 1000, .keep = keep, .seed = 1};
    const BookQuality quality = measure(legendre_family().draw(request), Shifts::kNone);
    EXPECT_LT(*quality.largest_overlap,
              *measure(random_family().draw(request), Shifts::kNone).largest_overlap)
        << keep;
    EXPECT_EQ(quality.distinct_words, 1000U);
  }
}

}  // namespace
}  // namespace subfleet
