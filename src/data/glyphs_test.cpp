#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <thread>

#include "data/glyph_writer.h"
#include "subfleet/data.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr uint32_t kClasses = 62;

std::unique_ptr<Federation> glyphs(DataOptions options = {}) {
  options.source = "glyphs";
  return open_federation(options);
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(Glyphs, IsTheDefault) {
  const auto data = open_federation({});
  EXPECT_EQ(data->clients(), 3400u);
  EXPECT_EQ(data->classes(), kClasses);
  EXPECT_EQ(data->input(), (Shape{1, 28, 28}));
  EXPECT_EQ(data->class_name(10), "A");
}

TEST(Glyphs, SeedAndWriterGiveTheSamePagesEveryTime) {
  const Examples once = glyphs({.seed = 7})->load(123);
  const Examples again = glyphs({.writers = 200, .seed = 7})->load(123);
  EXPECT_EQ(once.inputs, again.inputs);
  EXPECT_EQ(once.labels, again.labels);
}

TEST(Glyphs, OtherWritersAndSeedsGiveOtherPages) {
  const auto data = glyphs({.seed = 7});
  const Examples page = data->load(123);
  for (const Examples& other : {data->load(124), glyphs({.seed = 8})->load(123)}) {
    EXPECT_NE(page.labels, other.labels);
    EXPECT_NE(page.inputs, other.inputs);
  }
}

TEST(Glyphs, PagesAreTheSameFromManyThreads) {
  const auto data = glyphs();
  const Examples expected = data->load(5);
  std::array<Examples, 4> pages;
  {
    std::vector<std::jthread> threads;
    threads.reserve(pages.size());
    for (Examples& page : pages) threads.emplace_back([&] { page = data->load(5); });
  }
  for (const Examples& page : pages) EXPECT_EQ(page.inputs, expected.inputs);
}

TEST(Glyphs, SamplesAreSkewedWithAMeanOfAbout200) {
  const auto data = glyphs();
  std::vector<double> samples;
  for (uint32_t client = 0; client < data->clients(); ++client) samples.push_back(data->samples(client));
  const double mean =
      std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  std::sort(samples.begin(), samples.end());
  EXPECT_GE(mean, 180);
  EXPECT_LE(mean, 220);
  EXPECT_LT(samples[samples.size() / 2], 0.92 * mean);
  EXPECT_GE(samples.front(), GlyphWriter::kFewestSamples);
  EXPECT_LE(samples.back(), GlyphWriter::kMostSamples);
  EXPECT_GT(samples.back(), 2.5 * mean);
}

TEST(Glyphs, LoadsAsManyAsItSays) {
  const auto data = glyphs();
  for (const uint32_t client : {0u, 17u, 3399u}) {
    const Examples page = data->load(client);
    EXPECT_EQ(page.count(), data->samples(client));
    EXPECT_EQ(page.features, 784u);
    EXPECT_EQ(page.inputs.size(), page.count() * 784);
  }
}

TEST(Glyphs, WritersFavourDifferentClassesButEveryClassIsWritten) {
  const auto data = glyphs();
  std::array<size_t, kClasses> overall{};
  size_t total = 0;
  double largest_share = 0;
  constexpr uint32_t kWriters = 60;
  for (uint32_t client = 0; client < kWriters; ++client) {
    const Examples page = data->load(client);
    std::array<size_t, kClasses> own{};
    for (const int32_t label : page.labels) {
      ASSERT_TRUE(label >= 0 && label < static_cast<int32_t>(kClasses));
      ++own[static_cast<size_t>(label)];
      ++overall[static_cast<size_t>(label)];
    }
    total += page.count();
    const size_t favourite = *std::max_element(own.begin(), own.end());
    largest_share += static_cast<double>(favourite) / static_cast<double>(page.count()) / kWriters;
  }
  EXPECT_GT(*std::min_element(overall.begin(), overall.end()), 0u);
  const auto most_common = static_cast<double>(*std::max_element(overall.begin(), overall.end()));
  EXPECT_GT(largest_share, 1.8 * most_common / static_cast<double>(total));
}

TEST(Glyphs, EveryImageIsInkOnPaper) {
  const auto data = glyphs();
  for (uint32_t client = 0; client < 20; ++client) {
    const Examples page = data->load(client);
    for (size_t i = 0; i < page.count(); ++i) {
      float ink = 0;
      float darkest = 0;
      size_t paper = 0;
      for (const float pixel : page.input(i)) {
        ASSERT_TRUE(pixel >= 0 && pixel <= 1);
        ink += pixel;
        darkest = std::max(darkest, pixel);
        paper += pixel == 0;
      }
      EXPECT_GT(ink, 8) << "client " << client << " sample " << i;
      EXPECT_GT(darkest, 0.5) << "client " << client << " sample " << i;
      EXPECT_GT(paper, 784u / 3) << "client " << client << " sample " << i;
    }
  }
}

TEST(Glyphs, CharactersAreNotCutOffAtTheEdge) {
  const auto data = glyphs();
  double edge = 0;
  double total = 0;
  for (uint32_t client = 0; client < 40; ++client) {
    const Examples page = data->load(client);
    for (size_t i = 0; i < page.count(); ++i) {
      const std::span<const float> image = page.input(i);
      for (size_t k = 0; k < 28; ++k)
        edge += image[k] + image[27 * 28 + k] + image[28 * k] + image[28 * k + 27];
      total += std::accumulate(image.begin(), image.end(), 0.0);
    }
  }
  EXPECT_LT(edge, 0.002 * total);
}

TEST(Glyphs, AHandResemblesItselfMoreThanOthers) {
  const auto data = glyphs();
  double own = 0;
  double others = 0;
  size_t own_pairs = 0;
  size_t other_pairs = 0;
  std::vector<Examples> pages;
  for (uint32_t client = 0; client < 12; ++client) pages.push_back(data->load(client));
  for (size_t a = 0; a < pages.size(); ++a) {
    for (size_t b = a; b < pages.size(); ++b) {
      for (size_t i = 0; i < 60; ++i) {
        for (size_t j = a == b ? i + 1 : 0; j < 60; ++j) {
          if (i >= pages[a].count() || j >= pages[b].count() || pages[a].labels[i] != pages[b].labels[j])
            continue;
          const double distance = squared_distance(pages[a].input(i), pages[b].input(j));
          (a == b ? own : others) += distance;
          ++(a == b ? own_pairs : other_pairs);
        }
      }
    }
  }
  ASSERT_GT(own_pairs, 100u);
  ASSERT_GT(other_pairs, 100u);
  EXPECT_LT(own / static_cast<double>(own_pairs), 0.85 * others / static_cast<double>(other_pairs));
}

TEST(Glyphs, SamplesOfOneClassAreNotCopies) {
  const Examples page = glyphs()->load(0);
  for (size_t i = 0; i < 100 && i < page.count(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_GT(squared_distance(page.input(i), page.input(j)), 0.5);
  }
}

TEST(Glyphs, AMillionWritersCostNothingUntilTheyWrite) {
  const auto data = glyphs({.writers = 1'000'000, .seed = 3});
  EXPECT_EQ(data->clients(), 1'000'000u);
  EXPECT_EQ(data->load(999'999).count(), data->samples(999'999));
  EXPECT_EQ(data->load(42).inputs, glyphs({.writers = 43, .seed = 3})->load(42).inputs);
}

TEST(Glyphs, MinSamplesLeavesOutSmallWritersAndKeepsTheOrder) {
  const auto all = glyphs({.writers = 300});
  const auto some = glyphs({.min_samples = 200, .writers = 300});
  uint32_t kept = 0;
  for (uint32_t client = 0; client < all->clients(); ++client) {
    if (all->samples(client) < 200) continue;
    ASSERT_LT(kept, some->clients());
    EXPECT_EQ(some->samples(kept), all->samples(client));
    if (kept == 3) {
      EXPECT_EQ(some->load(kept).inputs, all->load(client).inputs);
    }
    ++kept;
  }
  EXPECT_EQ(kept, some->clients());
  EXPECT_LT(kept, 300u);
}

TEST(Glyphs, RefusesNoWriters) {
  EXPECT_THROW(glyphs({.writers = 0}), Error);
  EXPECT_THROW(glyphs({.min_samples = 100000}), Error);
}

TEST(Sources, AnUnknownSourceNamesTheNearest) {
  try {
    open_federation({.source = "glyph"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    EXPECT_NE(std::string(error.what()).find("nearest: glyphs"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subfleet
